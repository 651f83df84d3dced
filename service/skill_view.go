package service

import (
	"encoding/json"
	"fmt"
	"strings"

	"tooldex/internal/orderedjson"
	"tooldex/selection"
	"tooldex/skills"
	"tooldex/tool"
	"tooldex/trust"
)

// SkillView is the skills that the holders of a view may see: those that its profile has, as if they were the tools of
// a server named "skill", without those that are held. It is safe for concurrent use.
type SkillView struct {
	skills  *Skills
	policy  selection.Policy
	content *trust.Content
}

// List returns the skills of the view at this moment, by name.
func (v SkillView) List() []tool.Skill {
	out := []tool.Skill{}
	library := v.skills.library()
	if library == nil {
		return out
	}
	for _, s := range library.Skills {
		if v.shows(s) {
			out = append(out, v.skills.describe(s, tool.DetailSummary))
		}
	}
	return out
}

// shows reports whether the view has a skill.
func (v SkillView) shows(s *skills.Skill) bool {
	held, _ := v.skills.judge(s)
	return held == "" && v.policy.Allows(s.Tool())
}

// find returns the skill of a URI and the path of the file that it names. The error is NotFound for what does not
// exist, is held, or belongs to others, which are not told apart.
func (v SkillView) find(uri string) (*skills.Skill, string, error) {
	name, file, ok := skills.CutURI(uri)
	if s, found := v.skills.library().Find(name); ok && found && v.shows(s) {
		return s, file, nil
	}
	return nil, "", &tool.Error{
		Code: tool.NotFound, Op: "find skill", Msg: fmt.Sprintf("there is no skill %q", uri),
		Hint: "search_tools and skills/list name the skills by their URIs",
	}
}

// Entry returns the skill of the URI of its SKILL.md with its files, and its front matter as JSON, which is nil if it
// names another skill. The errors are NotFound.
func (v SkillView) Entry(uri string) (tool.Skill, json.RawMessage, []tool.SkillFile, error) {
	s, file, err := v.find(uri)
	if err == nil && file != skills.Main {
		err = &tool.Error{
			Code: tool.NotFound, Op: "find skill", Msg: fmt.Sprintf("%q is no skill", uri),
			Hint: "give the URI of a " + skills.Main,
		}
	}
	if err != nil {
		return tool.Skill{}, nil, nil, err
	}
	files, err := s.Files()
	return v.skills.describe(s, tool.DetailSummary), s.FrontMatter, files, err
}

// Read returns a file of a skill as the result of resources/read, judged as the results of tools are. The error is
// NotFound for what does not exist in the view, Denied for a file with an attack in it where the policy withholds it,
// and Invalid for one that is too large.
func (v SkillView) Read(uri string) (json.RawMessage, error) {
	s, file, err := v.find(uri)
	if err != nil {
		return nil, err
	}
	c, err := s.ReadFile(file)
	if err != nil {
		return nil, err
	}
	type content struct {
		URI  string  `json:"uri"`
		Type string  `json:"mimeType"`
		Text *string `json:"text,omitempty"`
		Blob []byte  `json:"blob,omitempty"`
	}
	one := content{URI: skills.URI(s.Name, file), Type: c.Type, Blob: c.Blob}
	if c.Blob == nil {
		one.Text = &c.Text
	}
	raw := orderedjson.Encode(map[string][]content{"contents": {one}})
	raw, withheld := v.content.Judge(v.skills.trustServer(s.Name), "contents", raw, false)
	if withheld != "" {
		return nil, &tool.Error{Code: tool.Denied, Op: "read skill", Msg: strings.TrimPrefix(withheld, "denied: ")}
	}
	return raw, nil
}
