package main

import (
	"context"
	"fmt"
	"slices"

	"tooldex/catalog"
	"tooldex/tool"
	"tooldex/trust"
)

// trust says whom the configuration trusts. A policy that is none is an error of usage.
func (a *app) trust() (trust.Options, error) {
	policy := trust.Policy(a.getenv("TOOLDEX_TRUST_POLICY"))
	if policy != "" && !slices.Contains(trust.Policies(), policy) {
		return trust.Options{}, usageError{
			fmt.Sprintf("unknown trust.policy %q", policy),
			"use off, warn, quarantine or strict",
		}
	}
	return trust.Options{
		Policy: policy, Servers: list(a.getenv("TOOLDEX_TRUST_SERVERS")),
		Trusted: func(server string) bool {
			return slices.ContainsFunc(a.conf.servers(), func(s tool.Server) bool {
				return s.Name == server &&
					s.Trust
			})
		},
	}, nil
}

// trustPolicies lists the policies, as a setting has its choices.
func trustPolicies() []string {
	var out []string
	for _, p := range trust.Policies() {
		out = append(out, string(p))
	}
	return out
}

// unheld calls only tools that are not held. Names of held tools are refused where they are resolved; this is the last
// door, for a call that was on its way when its tool was held.
type unheld struct {
	next    tool.Caller
	catalog *catalog.Catalog
}

// Call implements tool.Caller.
func (u unheld) Call(ctx context.Context, c tool.Call) (*tool.CallResult, error) {
	if why := u.catalog.Set().Withheld(c.ID); why != "" {
		return nil, tool.WithheldError(c.ID, why)
	}
	return u.next.Call(ctx, c)
}

// warnHeld tells once of each tool that is held from now on.
func (a *app) warnHeld(r catalog.Report) {
	for _, id := range r.Held {
		a.log.Warn("a tool is held until somebody approves it", "tool", id, "review",
			"tooldex servers review "+id.Server())
	}
}
