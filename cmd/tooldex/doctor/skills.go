package doctor

import (
	"context"

	"tooldex/service"
	"tooldex/tool"
)

// checkSkills reports skills that are held or suspicious, and files of skills that cannot be used. It says nothing
// where no skills are configured.
func (d *doctor) checkSkills(ctx context.Context, s *service.Service) {
	if s.Skills == nil {
		return
	}
	report, err := s.ReportSkills(ctx)
	if err != nil && tool.CodeOf(err) != tool.NotFound {
		d.addError("skills", "", err)
		return
	}
	var problems, held, warned []string
	for _, p := range report.Problems {
		problems = append(problems, p.String())
	}
	for _, one := range report.Skills {
		switch {
		case one.Held != "":
			held = append(held, one.File+": "+one.Held)
		case one.Warning != "":
			warned = append(warned, one.File+": "+one.Warning)
		}
	}
	if len(problems)+len(held)+len(warned) == 0 {
		d.addFine("skills", "", "%d are served", len(report.Skills))
		return
	}
	d.addGroup(Warn, "skills", "tooldex skills says for each what to do", problems,
		"1 file or folder of skills cannot be used as it is", "%d files or folders of skills cannot be used as they are")
	d.addGroup(Warn, "skills", "read it, then correct it or add skill/NAME to trust.servers", held,
		"1 skill is held", "%d skills are held")
	d.addGroup(Note, "skills", "read it, then correct it or add skill/NAME to trust.servers", warned,
		"1 skill looks suspicious, and is served with a warning", "%d skills look suspicious, and are served with a warning")
}
