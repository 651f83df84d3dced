package httpapi

import (
	"context"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"tooldex/tool"
)

// Overlays keeps what people add to the descriptions of tools. Its methods are safe for concurrent use.
type Overlays interface {
	// Said returns what was added to a tool, the zero value if nothing was.
	Said(id tool.ID) (*ToolOverlay, error)
	// Say replaces what was added to a tool before. When it returns nil, the change is durable and searches use it. The
	// error is Invalid for what the tool cannot take.
	Say(ctx context.Context, id tool.ID, o *ToolOverlay) error
}

// ToolOverlay is what people add to a tool. Lists extend what its source declares, other fields replace it; what is
// left out changes nothing.
type ToolOverlay struct {
	Summary    *string        `json:"summary,omitempty" jsonschema:"one line of at most 80 characters"`
	Category   *string        `json:"category,omitempty"`
	Enabled    *bool          `json:"enabled,omitempty" jsonschema:"whether the tool is found and can be called"`
	Always     *bool          `json:"alwaysInclude,omitempty" jsonschema:"whether every client is shown the tool"`
	Borrow     *bool          `json:"borrow,omitempty" jsonschema:"whether it borrows words from archetypes"`
	Synonyms   []string       `json:"synonyms,omitempty" jsonschema:"other words for what it does"`
	Utterances []string       `json:"utterances,omitempty" jsonschema:"requests that should find it"`
	Examples   []tool.Example `json:"examples,omitempty" jsonschema:"calls of it, with their arguments"`
}

// Insight explains how a tool is found.
type Insight interface {
	// Insight is called for tools that exist. Lists in its answer may be nil; Uses is filled in by the Server.
	Insight(ctx context.Context, id tool.ID) (*ToolInsight, error)
}

// ToolInsight is what finds a tool beside its name, description and parameters, and what is near it.
type ToolInsight struct {
	Borrows bool      `json:"borrows" jsonschema:"false: it borrows nothing from archetypes"`
	Sayings []Saying  `json:"sayings" jsonschema:"its own first"`
	Lenders []Lender  `json:"lenders" jsonschema:"the likest first"`
	Related []tool.ID `json:"related" jsonschema:"those its author names, or else the nearest in meaning"`
	Uses    int64     `json:"uses" jsonschema:"how often it was called"`
}

// Saying is a search phrase or a synonym that finds a tool.
type Saying struct {
	Kind   string          `json:"kind" jsonschema:"utterance or synonym"`
	From   tool.Provenance `json:"from"`
	Text   string          `json:"text"`
	Lender string          `json:"lender,omitempty" jsonschema:"the archetype that it is borrowed from"`
}

// Lender is an archetype from which a tool borrows.
type Lender struct {
	Archetype string  `json:"archetype"`
	Title     string  `json:"title"`
	Like      float64 `json:"like" jsonschema:"how like the tool it is, 0 to 1"`
	Weight    float64 `json:"weight" jsonschema:"of what it lends, 1 for the likest"`
}

// Paths that end in the ID of a tool.
const (
	overlaysPath = "/api/overlays/"
	insightsPath = "/api/insights/"
)

// findTool returns the tool whose ID is the rest of the path.
func (s *Server) findTool(c echo.Context, prefix string) (*tool.Tool, error) {
	name, err := url.PathUnescape(strings.TrimPrefix(c.Request().URL.EscapedPath(), prefix))
	if err != nil {
		return nil, invalidField("the id", "is not escaped correctly")
	}
	return s.currentSet().Resolve(name)
}

// getOverlay answers GET /api/overlays/{id}.
func (s *Server) getOverlay(c echo.Context) error {
	if err := readQuery(c).done(); err != nil {
		return err
	}
	t, err := s.findTool(c, overlaysPath)
	if err != nil {
		return err
	}
	if s.o.Overlays == nil {
		return errNoOverlays()
	}
	o, err := s.o.Overlays.Said(t.ID())
	if err != nil {
		return err
	}
	return writeJSON(c, o)
}

// putOverlay answers PUT /api/overlays/{id}.
func (s *Server) putOverlay(c echo.Context) error {
	t, err := s.findTool(c, overlaysPath)
	if err != nil {
		return err
	}
	var o ToolOverlay
	if err := readBody(c, &o); err != nil {
		return err
	}
	if s.o.Overlays == nil {
		return errNoOverlays()
	}
	if err := s.o.Overlays.Say(c.Request().Context(), t.ID(), &o); err != nil {
		return err
	}
	said, err := s.o.Overlays.Said(t.ID())
	if err != nil {
		return err
	}
	return writeJSON(c, said)
}

// errNoOverlays is the error where nothing can be added to tools.
func errNoOverlays() error {
	return &tool.Error{Code: tool.Denied, Op: "overlay", Msg: "descriptions of tools cannot be changed here"}
}

// getInsight answers GET /api/insights/{id}.
func (s *Server) getInsight(c echo.Context) error {
	if err := readQuery(c).done(); err != nil {
		return err
	}
	t, err := s.findTool(c, insightsPath)
	if err != nil {
		return err
	}
	uses, err := s.toolUses(c.Request().Context())
	if err != nil {
		return err
	}
	in := &ToolInsight{}
	if s.o.Insight != nil {
		if in, err = s.o.Insight.Insight(c.Request().Context(), t.ID()); err != nil {
			return err
		}
	}
	out := *in
	out.Uses = uses[t.ID()].Calls
	out.Sayings, out.Lenders, out.Related = orEmpty(out.Sayings), orEmpty(out.Lenders), orEmpty(out.Related)
	return writeJSON(c, out)
}

// orEmpty returns l, or an empty list in the place of nil, which JSON would write as null.
func orEmpty[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}
