package mcpsrv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/sanitize"
	"tooldex/tool"
)

const (
	skillsExtension  = "io.modelcontextprotocol/skills"
	skillScheme      = "skill://"
	skillTemplate    = skillScheme + "{skill}/{+file}"
	listSkillsMethod = "skills/list"
	getSkillMethod   = "skills/get"
	// skillPage is how many skills one page of skills/list holds: the files of each are read to make it.
	skillPage = 100
)

// listSkillsParams are the parameters of skills/list.
type listSkillsParams struct {
	mcp.ParamsBase
	Cursor string `json:"cursor"`
}

// getSkillParams are the parameters of skills/get.
type getSkillParams struct {
	mcp.ParamsBase
	URI string `json:"uri"`
}

// addSkillMethods registers the methods of the extension if there are skills. It fails only if the SDK comes to define
// them itself.
func (s *Server) addSkillMethods() error {
	if s.o.Skills == nil {
		return nil
	}
	return errors.Join(
		mcp.AddReceivingCustomMethod(s.mcp, listSkillsMethod, s.listSkills),
		mcp.AddReceivingCustomMethod(s.mcp, getSkillMethod, s.getSkill),
	)
}

// skillEntry returns a skill as skills/list and skills/get have it; nil for one that clients would refuse. The front
// matter is that of the file, so it must not be cleaned or marked here.
func (s *Server) skillEntry(uri string) (json.RawMessage, error) {
	_, frontMatter, files, err := s.o.Skills.Entry(uri)
	if err != nil || frontMatter == nil {
		return nil, err
	}
	return object{
		jsonMember("uri", uri), {Key: "frontmatter", Value: frontMatter}, jsonMember("resources", files),
	}.Bytes(), nil
}

// skillResult returns a result of the extension, which may be kept as other listings may.
func skillResult(o object) *rawResult {
	return &rawResult{raw: cacheable(o).Bytes()}
}

// listSkills answers skills/list.
func (s *Server) listSkills(_ context.Context, _ *mcp.ServerSession, p *listSkillsParams) (*rawResult, error) {
	cursor := ""
	if p != nil {
		cursor = p.Cursor
	}
	all, found := s.o.Skills.List(), cursor == ""
	entries, last, next := []json.RawMessage{}, "", ""
	for _, one := range all {
		if !found {
			found = one.URI == cursor
			continue
		}
		if len(entries) == skillPage {
			next = last
			break
		}
		last = one.URI
		entry, err := s.skillEntry(one.URI)
		if err == nil && entry != nil { // one that is gone meanwhile is left out
			entries = append(entries, entry)
		}
	}
	if !found {
		return nil, invalidParams("unknown cursor; list again from the start", "")
	}
	out := object{{Key: "skills", Value: joinArray(entries)}}
	if next != "" {
		out = append(out, jsonMember("nextCursor", next))
	}
	return skillResult(out), nil
}

// getSkill answers skills/get.
func (s *Server) getSkill(_ context.Context, _ *mcp.ServerSession, p *getSkillParams) (*rawResult, error) {
	if p == nil || p.URI == "" {
		return nil, invalidParams("uri is missing", "give the URI of a SKILL.md")
	}
	entry, err := s.skillEntry(p.URI)
	if err != nil {
		return nil, protocolError(err)
	}
	if entry == nil {
		return nil, invalidParams("the front matter of the skill has another name", "read the resource "+p.URI)
	}
	return skillResult(object{{Key: "skill", Value: entry}}), nil
}

// skillResources lists each SKILL.md as a resource. The files beside them are read by their URIs, as the template says.
func (s *Server) skillResources() (out []entry) {
	if s.o.Skills == nil {
		return nil
	}
	for _, one := range s.o.Skills.List() {
		out = append(out, entry{one.URI, object{
			jsonMember("uri", one.URI), jsonMember("name", one.Name),
			jsonMember("description", tool.WithCaution(one.Warning, one.Description)), jsonMember("mimeType", "text/markdown"),
		}.Bytes()})
	}
	return out
}

// skillTemplates lists the template of the files of skills, if there are any.
func (s *Server) skillTemplates() []entry {
	if s.o.Skills == nil || len(s.o.Skills.List()) == 0 {
		return nil
	}
	return []entry{{skillTemplate, object{
		jsonMember("uriTemplate", skillTemplate), jsonMember("name", "files of skills"),
		jsonMember("description", "A file of a skill, by its path in the folder of the skill"),
	}.Bytes()}}
}

// readSkill returns the result of resources/read for the URI of a skill. ok is false for any other URI, and for one
// that a server behind may know.
func (s *Server) readSkill(uri string) (raw json.RawMessage, err error, ok bool) {
	if s.o.Skills == nil || !strings.HasPrefix(uri, skillScheme) {
		return nil, nil, false
	}
	raw, err = s.o.Skills.Read(uri)
	return raw, err, tool.CodeOf(err) != tool.NotFound
}

// writeSkills writes the skills of a search's answer, behind its tools.
func writeSkills(b *strings.Builder, found []tool.Skill) {
	if len(found) == 0 {
		return
	}
	b.WriteString("Skills (instructions to follow; " + describeName + " reads them):\n")
	for _, one := range found {
		b.WriteString("- " + one.URI)
		if one.Description != "" {
			b.WriteString(": " + sanitize.Clip(oneLine(one.Description), maxSkillSummary))
		}
		b.WriteString(" [" + formatScore(one.Score) + "]\n")
		if caution := tool.WithCaution(one.Warning, ""); caution != "" {
			b.WriteString("  " + caution + "\n")
		}
	}
}

// maxSkillSummary bounds the description of a skill in an answer, in bytes.
const maxSkillSummary = 240

// describeSkill writes a file of a skill for a model, and for a SKILL.md the files beside it. It reports whether uri is
// that of a skill.
func (s *Server) describeSkill(b *strings.Builder, uri string) (bool, error) {
	raw, err, ok := s.readSkill(uri)
	if !ok || err != nil {
		return ok, err
	}
	var res struct {
		Contents []struct{ MimeType, Text, Blob string }
	}
	if err := json.Unmarshal(raw, &res); err != nil {
		return true, &tool.Error{Code: tool.Internal, Op: "describe", Msg: "the skill cannot be read", Err: err}
	}
	fmt.Fprintf(b, "# %s\n", uri)
	most := max(s.live.Load().maxResult, 0) * bytesPerToken
	for _, c := range res.Contents {
		switch {
		case c.Blob != "":
			fmt.Fprintf(b, "%d bytes of %s; resources/read returns them.\n", len(c.Blob)/4*3, c.MimeType)
		case most > 0 && len(c.Text) > most:
			b.WriteString(sanitize.Cut(c.Text, most) + "\n… The rest is left out; resources/read returns all.\n")
		default:
			b.WriteString(strings.TrimRight(c.Text, "\n") + "\n")
		}
	}
	if _, _, files, err := s.o.Skills.Entry(uri); err == nil && len(files) > 1 {
		b.WriteString("Files beside it:\n")
		for i, f := range files[1:] {
			if i == maxSkillFiles {
				fmt.Fprintf(b, "- and %d more\n", len(files)-1-i)
				break
			}
			fmt.Fprintf(b, "- %s (%d bytes)\n", f.URI, f.Size)
		}
	}
	return true, nil
}

// maxSkillFiles bounds how many files beside a SKILL.md a model is told of.
const maxSkillFiles = 50
