package service

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"tooldex/internal/sanitize"
	"tooldex/scan"
	"tooldex/skills"
	"tooldex/tool"
)

// SkillLine is a skill as it is listed for the operator.
type SkillLine struct {
	tool.Skill
	File     string         `json:"file"`               // the path of its SKILL.md
	Held     string         `json:"held,omitempty"`     // why nobody is served it
	Findings []scan.Finding `json:"findings,omitempty"` // of the scanner
}

// SkillReport is what the configured folders hold, or the text of one file of a skill.
type SkillReport struct {
	Skills   []SkillLine      `json:"skills,omitempty"` // by name
	Problems []skills.Problem `json:"problems,omitempty"`
	Text     string           `json:"text,omitempty"`
}

// Report returns all skills and what cannot be used of the folders, for the operator.
func (k *Skills) Report() SkillReport {
	var out SkillReport
	library := k.library()
	if library == nil {
		return out
	}
	for _, s := range library.Skills {
		line := SkillLine{Skill: k.describe(s, tool.DetailSummary), File: s.File, Findings: s.Findings}
		line.Held, _ = k.judge(s)
		out.Skills = append(out.Skills, line)
	}
	out.Problems = library.Problems
	return out
}

// ReportSkills reads the skills again and returns all of them, or the file that an argument names as NAME or NAME/FILE.
// The error is NotFound if there is none, and Invalid for a file that is no text; problems are reported all the same.
func (s *Service) ReportSkills(ctx context.Context, names ...string) (SkillReport, error) {
	if _, err := s.Skills.Refresh(ctx); err != nil {
		return SkillReport{}, err
	}
	if len(names) > 0 {
		text, err := s.Skills.text(names[0])
		return SkillReport{Text: text}, err
	}
	out := s.Skills.Report()
	if len(out.Skills) == 0 {
		return out, &tool.Error{
			Code: tool.NotFound, Op: "list skills", Msg: "there are no skills",
			Hint: "name a folder of them in tooldex.yaml: skills: [~/.claude/skills]",
		}
	}
	return out, nil
}

// text returns the SKILL.md of a skill, or another of its files as NAME/FILE.
func (k *Skills) text(id string) (string, error) {
	name, file, _ := strings.Cut(id, "/")
	s, ok := k.library().Find(name)
	if !ok {
		return "", &tool.Error{
			Code: tool.NotFound, Op: "show skill", Msg: fmt.Sprintf("there is no skill %q", name), Hint: "tooldex skills lists them",
		}
	}
	c, err := s.ReadFile(cmp.Or(file, skills.Main))
	if err == nil && c.Blob != nil {
		err = &tool.Error{
			Code: tool.Invalid, Op: "show skill", Msg: fmt.Sprintf("%s is no text, but %d bytes of %s", id, len(c.Blob), c.Type),
			Hint: "open it beside " + s.File,
		}
	}
	if err != nil {
		return "", err
	}
	return c.Text, nil
}

// Notes returns the problems, each on a line.
func (r SkillReport) Notes() string {
	var b strings.Builder
	for _, p := range r.Problems {
		b.WriteString(p.String() + "\n")
	}
	return b.String()
}

// Rows returns the report as the rows of a table: the lines of the text, or name, state and description of each skill.
func (r SkillReport) Rows() (rows [][]string) {
	for line := range strings.Lines(r.Text) {
		rows = append(rows, []string{strings.TrimRight(line, "\n")})
	}
	for _, s := range r.Skills {
		state := ""
		switch {
		case s.Held != "":
			state = "held: " + s.Held
		case s.Warning != "":
			state = "suspicious"
		}
		rows = append(rows, []string{s.Name, state, sanitize.DeriveSummary(s.Description)})
	}
	return rows
}

// SkillRows returns the skills of a search as the rows of a table with a heading, after an empty line; nil if there are
// none.
func SkillRows(found []tool.Skill) (rows [][]string) {
	for i, s := range found {
		if i == 0 {
			rows = append(rows, nil, []string{"SCORE", "SKILL", "DESCRIPTION"})
		}
		about := sanitize.MarkSummary(sanitize.DeriveSummary(s.Description), s.Warning, "")
		rows = append(rows, []string{fmt.Sprintf("%.2f", s.Score), s.Name, about})
	}
	return rows
}
