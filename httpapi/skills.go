package httpapi

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"tooldex/tool"
)

const (
	skillsPath = "/api/skills"
	skillMain  = "SKILL.md"
)

// skillList lists the skills.
type skillList struct {
	Skills []tool.Skill `json:"skills" jsonschema:"by name"`
}

// skillPage is a file of a skill.
type skillPage struct {
	Contents []skillContent   `json:"contents" jsonschema:"the file; before it a warning, if it looks suspicious"`
	Skill    *tool.Skill      `json:"skill,omitempty" jsonschema:"the skill; only with its SKILL.md"`
	Files    []tool.SkillFile `json:"files,omitempty" jsonschema:"all files of the skill; only with its SKILL.md"`
}

// skillContent is what a file holds: text, or bytes in base64.
type skillContent struct {
	URI  string  `json:"uri"`
	Type string  `json:"mimeType"`
	Text *string `json:"text,omitempty"`
	Blob string  `json:"blob,omitempty"`
}

// listSkills answers GET /api/skills.
func (s *Server) listSkills(c echo.Context) error {
	if err := readQuery(c).done(); err != nil {
		return err
	}
	out := skillList{Skills: []tool.Skill{}}
	if s.o.Skills != nil {
		out.Skills = orEmpty(s.o.Skills.List())
	}
	return writeJSON(c, out)
}

// getSkill answers GET /api/skills/{id}: the SKILL.md of a skill for its name, another file for the name with its path.
func (s *Server) getSkill(c echo.Context) error {
	if err := readQuery(c).done(); err != nil {
		return err
	}
	id, err := url.PathUnescape(strings.TrimPrefix(c.Request().URL.EscapedPath(), skillsPath+"/"))
	name, file, _ := strings.Cut(id, "/")
	if err != nil || name == "" || s.o.Skills == nil {
		return &tool.Error{
			Code: tool.NotFound, Op: "get skill", Msg: "there is no such skill", Hint: "GET " + skillsPath + " lists them",
		}
	}
	main := file == "" || file == skillMain
	if main {
		file = skillMain
	}
	parts := strings.Split(name+"/"+file, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	uri := "skill://" + strings.Join(parts, "/")
	raw, err := s.o.Skills.Read(uri)
	if err != nil {
		return err
	}
	var out skillPage
	if err := json.Unmarshal(raw, &out); err != nil {
		return &tool.Error{Code: tool.Internal, Op: "get skill", Msg: "the skill cannot be read", Err: err}
	}
	if main {
		one, _, files, err := s.o.Skills.Entry(uri)
		if err != nil {
			return err
		}
		out.Skill, out.Files = &one, files
	}
	return writeJSON(c, out)
}
