package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"tooldex/tool"
)

// kindNoMatch is the kind that marks a request as served by no tool, even where relevant is left out.
const kindNoMatch = "no_match"

// rawCase is a labelled request as a file has it. Relevant is nil where it is left out, which differs from empty.
type rawCase struct {
	ID       caseID             `json:"id" yaml:"id"`
	Query    string             `json:"query" yaml:"query"`
	Relevant []string           `json:"relevant" yaml:"relevant"`
	Mode     string             `json:"mode" yaml:"mode"`
	AllOf    [][]string         `json:"all_of" yaml:"all_of"`
	Steps    []rawStep          `json:"steps" yaml:"steps"`
	Grades   map[string]float64 `json:"grades" yaml:"grades"`
	Kind     string             `json:"kind" yaml:"kind"`
	Lang     string             `json:"lang" yaml:"lang"`
	Split    string             `json:"split" yaml:"split"`
	NearMiss bool               `json:"near_miss" yaml:"near_miss"`
	Near     bool               `json:"near" yaml:"near"` // the same, in short
	Reviewed *bool              `json:"reviewed" yaml:"reviewed"`
}

// requestForm is the hint for a request of another form.
const requestForm = `a request is like {"query": "TEXT", "relevant": ["NAME"]}, a step of one like {"tools": ["NAME"]}`

// caseID is a string that may be written as a number.
type caseID string

// UnmarshalJSON takes a string, a number, or null for none.
func (id *caseID) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(id))
	}
	if string(b) == "null" {
		return nil
	}
	// a number is kept as it is written, without rounding
	var n json.Number
	if err := json.Unmarshal(b, &n); err != nil {
		return errors.New("id is neither a string nor a number")
	}
	*id = caseID(n)
	return nil
}

// caseReader turns raw cases into Cases, in the order of the file.
type caseReader struct {
	file    string                       // the name that errors use
	resolve func(string) (string, error) // returns the label of a tool's name, or an error if there is no such tool
	lines   map[string]int               // by ID, for the error about a repeat
	cases   []Case
}

// readCases reads the file name of fsys, YAML or JSON lines by its ending. A file without requests is an error.
func readCases(fsys fs.FS, name, file string, resolve func(string) (string, error)) ([]Case, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, missingFile(file, err)
	}
	defer func() { _ = f.Close() }() // it was only read: nothing can be lost
	r := &caseReader{file: file, resolve: resolve, lines: map[string]int{}}
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml":
		err = r.readYAML(f)
	default:
		err = r.readJSONLines(f)
	}
	if err == nil && len(r.cases) == 0 {
		err = badLine(file, 1, "set has no requests", "", nil)
	}
	if err != nil {
		return nil, err
	}
	return r.cases, nil
}

// readJSONLines reads one case a line; blank lines are skipped.
func (r *caseReader) readJSONLines(f io.Reader) error {
	return eachLine(f, r.file, func(line int, b []byte) error {
		var raw rawCase
		if err := json.Unmarshal(b, &raw); err != nil {
			return badLine(r.file, line, "request cannot be read", requestForm, err)
		}
		return r.addCase(&raw, line)
	})
}

// readYAML reads a list of requests, or a mapping that holds one under "queries".
func (r *caseReader) readYAML(f io.Reader) error {
	// Nodes are decoded one by one, so that an error names the line of its request.
	var doc struct{ Queries []yaml.Node }
	var root yaml.Node
	if err := yaml.NewDecoder(f).Decode(&root); err != nil {
		if errors.Is(err, io.EOF) {
			return nil
		}
		return badLine(r.file, 1, "file is not YAML", "", err)
	}
	into := any(&doc)
	if len(root.Content) > 0 && root.Content[0].Kind == yaml.SequenceNode {
		into = &doc.Queries
	}
	if err := root.Decode(into); err != nil {
		return badLine(r.file, max(root.Line, 1), "file is not a list of requests", "", err)
	}
	for i := range doc.Queries {
		var raw rawCase
		if err := doc.Queries[i].Decode(&raw); err != nil {
			return badLine(r.file, doc.Queries[i].Line, "request cannot be read", requestForm, err)
		}
		if err := r.addCase(&raw, doc.Queries[i].Line); err != nil {
			return err
		}
	}
	return nil
}

// addCase checks one case and appends it. A case without an ID is named q1, q2 and so on by its place. Errors are
// Invalid and name the file and the line.
func (r *caseReader) addCase(raw *rawCase, line int) error {
	c, err := r.checkCase(raw)
	if err != nil {
		var e *tool.Error
		// a *tool.Error of checkCase has a hint, which is kept
		if errors.As(err, &e) {
			return badLine(r.file, line, e.Msg, e.Hint, nil)
		}
		return badLine(r.file, line, err.Error(), "", nil)
	}
	if c.ID == "" {
		c.ID = fmt.Sprintf("q%d", len(r.cases)+1)
	}
	if first, ok := r.lines[c.ID]; ok {
		return badLine(r.file, line, fmt.Sprintf("id %q was given on line %d", c.ID, first),
			"give every request its own", nil)
	}
	r.lines[c.ID] = line
	r.cases = append(r.cases, *c)
	return nil
}

// checkCase returns the Case of a raw one with its tool names resolved; the caller fills in a missing ID.
func (r *caseReader) checkCase(raw *rawCase) (*Case, error) {
	c := &Case{
		ID: string(raw.ID), Query: raw.Query, Any: raw.Mode == "any",
		Kind: raw.Kind, Lang: raw.Lang, Split: raw.Split, NearMiss: raw.NearMiss || raw.Near,
		Unreviewed: raw.Reviewed != nil && !*raw.Reviewed,
	}
	if strings.TrimSpace(raw.Query) == "" {
		return nil, errors.New("request has no query")
	}
	if raw.Mode != "" && raw.Mode != "any" && raw.Mode != "all" {
		return nil, fmt.Errorf("mode %q is neither any nor all", raw.Mode)
	}
	var err error
	if c.Relevant, err = r.resolveLabels(raw.Relevant); err != nil {
		return nil, err
	}
	for _, group := range raw.AllOf {
		names, err := r.resolveLabels(group)
		if err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return nil, errors.New("all_of has an empty group")
		}
		c.AllOf = append(c.AllOf, names)
	}
	if raw.Steps != nil {
		if err := r.readSteps(c, raw); err != nil {
			return nil, err
		}
	}
	if err := r.readGrades(c, raw.Grades); err != nil {
		return nil, err
	}
	return c, deriveKind(c, raw.Relevant != nil)
}

// deriveKind fills Relevant from all_of and from positive grades where it was left out (given is false), and returns an
// error for labels that contradict each other.
func deriveKind(c *Case, given bool) error {
	if !given {
		for _, group := range c.AllOf {
			c.Relevant = append(c.Relevant, group...)
		}
		for _, name := range slices.Sorted(maps.Keys(c.Grades)) {
			if c.Grades[name] > 0 {
				c.Relevant = append(c.Relevant, name)
			}
		}
		c.Relevant = distinctNames(c.Relevant)
	}
	switch {
	// Leaving relevant out is more likely an oversight than a statement that no tool serves the request.
	case c.NoMatch() && !given && c.Kind != kindNoMatch:
		return &tool.Error{
			Msg:  "request has no relevant tools",
			Hint: `write "relevant": [] for one that no tool serves`,
		}
	case c.NoMatch() && len(c.AllOf) > 0:
		return errors.New("relevant is empty, but all_of names tools")
	case !c.NoMatch() && (c.Kind == kindNoMatch || c.NearMiss):
		return errors.New("request is marked as one that no tool serves, but has relevant tools")
	}
	return nil
}

// readGrades resolves the names of graded tools; of several names of one tool the highest grade counts. Names go in
// sorted order, so that the same file always gives the same error.
func (r *caseReader) readGrades(c *Case, grades map[string]float64) error {
	for _, name := range slices.Sorted(maps.Keys(grades)) {
		g := grades[name]
		// written so that NaN is refused, too
		if !(g >= 0) || math.IsInf(g, 0) {
			return fmt.Errorf("grade of %q is %v, not 0 or more", name, g)
		}
		label, err := r.resolve(name)
		if err != nil {
			return err
		}
		if c.Grades == nil {
			c.Grades = make(map[string]float64, len(grades))
		}
		c.Grades[label] = max(g, c.Grades[label])
	}
	return nil
}

// resolveLabels returns the labels of names without repeats, or the error of the first that names no tool.
func (r *caseReader) resolveLabels(names []string) ([]string, error) {
	out := make([]string, 0, len(names))
	for _, name := range names {
		label, err := r.resolve(name)
		if err != nil {
			return nil, err
		}
		out = append(out, label)
	}
	return distinctNames(out), nil
}

// distinctNames drops repeats from a short list, in place, and keeps its order.
func distinctNames(names []string) []string {
	out := names[:0]
	for _, name := range names {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
