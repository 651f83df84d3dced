package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"tooldex/config"
	"tooldex/tool"
)

// healthTimeout bounds the wait for an answer. It is shorter than the usual timeout of container health checks.
const healthTimeout = 3 * time.Second

// healthInfo is the address that was asked and the HTTP status of its answer.
type healthInfo struct {
	URL    string `json:"url"`
	Status int    `json:"status"`
}

func newHealth(a *app) *cobra.Command {
	var asked string
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Check whether a tooldex that serves HTTP runs",
		Long: "Check whether a tooldex that serves HTTP runs, and exit with 0 if it does, with 1 if it does not. Containers without a\n" +
			"shell use it as their health check. No token is needed, and only the address is read from the configuration.",
		Example:     "  tooldex health\n  tooldex health --url http://127.0.0.1:8733/readyz",
		Annotations: configOptional,
		Args:        checkArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			target, err := healthURL(asked, a.config().Serve.Listen)
			if err != nil {
				return err
			}
			got, err := askHealth(cmd.Context(), target)
			if err != nil {
				return err
			}
			return a.print(got, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "%s answers\n", got.URL)
				return err
			})
		},
	}
	cmd.Flags().StringVar(&asked, "url", "",
		"the address to request (default: /healthz at the address of serve), for example http://127.0.0.1:8733/readyz")
	return cmd
}

// healthURL returns the URL to ask: the given one, or /healthz at the address that serve listens on. An unspecified
// address, such as 0.0.0.0, is reached by loopback. Its errors are usage errors.
func healthURL(asked, listen string) (string, error) {
	if asked != "" {
		u, err := url.Parse(asked)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return "", usageError{fmt.Sprintf("%q is not an address to ask", asked), "give --url http://" +
				config.DefaultListen}
		}
		if u.Path == "" {
			u.Path = "/healthz"
		}
		return u.String(), nil
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", usageError{fmt.Sprintf("%q is not an address", listen), "give host:port, for example " +
			config.DefaultListen}
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip != nil && ip.To4() == nil {
			host = "::1"
		}
	}
	return "http://" + net.JoinHostPort(host, port) + "/healthz", nil
}

// askHealth asks target and returns an error unless the status is 2xx. It uses no proxy and follows no redirect, since
// their answers say nothing about target.
func askHealth(ctx context.Context, target string) (*healthInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	const op = "ask for health"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, &tool.Error{Code: tool.Invalid, Op: op, Msg: target + " cannot be asked", Err: err}
	}
	client := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, &tool.Error{Code: tool.Unavailable, Op: op, Msg: target +
			" does not answer", Hint: "is tooldex serve --listen running there?", Err: err}
	}
	_ = res.Body.Close() // the status is enough
	if res.StatusCode/100 != 2 {
		return nil, &tool.Error{Code: tool.Unavailable, Op: op, Msg: fmt.Sprintf("%s answers with status %d", target,
			res.StatusCode), Hint: "its log says why"}
	}
	return &healthInfo{URL: target, Status: res.StatusCode}, nil
}
