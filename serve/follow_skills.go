package serve

import (
	"context"
	"slices"
	"time"
)

// followSkills reads the skills, and reads them again when their files change. What cannot be used of them is logged
// once.
func (u *updater) followSkills(ctx context.Context) {
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	var logged []string
	for {
		changed, err := u.service.Skills.Refresh(ctx)
		if err != nil && ctx.Err() == nil {
			u.o.Logger.Error("the skills cannot be read again", "error", err)
		}
		if changed {
			logged = u.logSkills(logged)
			u.all.eachSurface(func(one *surface) { one.mcp.FeaturesChanged() })
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// logSkills logs how many skills there are, and what of them is held or cannot be used unless it is among those that
// were logged. It returns what there is to say now.
func (u *updater) logSkills(logged []string) []string {
	report := u.service.Skills.Report()
	u.o.Logger.Info("read the skills", "skills", len(report.Skills), "problems", len(report.Problems))
	var now []string
	warn := func(key, msg string, args ...any) {
		if now = append(now, key); !slices.Contains(logged, key) {
			u.o.Logger.Warn(msg, args...)
		}
	}
	for _, p := range report.Problems {
		warn(p.String(), "a skill cannot be used as it is", "file", p.File, "problem", p.Problem, "remedy", p.Remedy)
	}
	for _, s := range report.Skills {
		switch {
		case s.Held != "":
			warn(s.File+s.Held, "a skill is held", "file", s.File, "why", s.Held,
				"remedy", "correct it, or add skill/"+s.Name+" to trust.servers")
		case s.Warning != "":
			warn(s.File+s.Warning, "a skill is served with a warning", "file", s.File, "why", s.Warning)
		}
	}
	return now
}
