package tool

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
)

// DefaultLimit is the number of tools a search returns when its Limit is zero, MaxLimit the most it ever does.
const (
	DefaultLimit = 5
	MaxLimit     = 100
)

// Detail says how much of each tool a search answer carries.
type Detail string

// The details, from least to most. The zero value means DetailSummary.
const (
	DetailName      Detail = "name"
	DetailSummary   Detail = "summary"
	DetailSignature Detail = "signature"
	DetailSchema    Detail = "schema"
)

// Mode says which branches of the search are used.
type Mode string

// The modes. The zero value means Hybrid.
const (
	Hybrid   Mode = "hybrid"
	Keyword  Mode = "keyword"
	Semantic Mode = "semantic"
)

// Query asks for tools. The zero Limit, Detail and Mode mean their defaults; a Query without text is Invalid.
type Query struct {
	Text    string   // one request
	Texts   []string // or several needs at once, answered in groups; Text is ignored if this is set
	Limit   int
	Detail  Detail
	Mode    Mode
	Filter  Filter
	Explain bool
	Session string // of the client that asks, "" if it has none
	Trial   bool   // of somebody who tries the search out: it is not counted
	Profile string // whose evidence of use counts; "" is the common one
}

// maxNeeds is the most needs that one query may hold.
const maxNeeds = 20

// Validate returns an Invalid error, with a hint, for a query that no search can answer: one without text, with more
// than 20 needs, a negative limit, or a mode or detail that does not exist. A limit over MaxLimit is valid and means
// MaxLimit; of a long text a search reads the beginning.
func (q *Query) Validate() error {
	texts := q.Texts
	if len(texts) == 0 {
		texts = []string{q.Text}
	}
	switch {
	case len(texts) > maxNeeds:
		return invalidQuery("a query holds at most "+strconv.Itoa(maxNeeds)+" needs", "ask in several calls")
	case !slices.ContainsFunc(texts, hasText):
		return invalidQuery("the query is empty", "say in a few words what the tool should do")
	case q.Limit < 0:
		return invalidQuery("limit is negative", "leave it out, or give 1 to "+strconv.Itoa(MaxLimit))
	case !slices.Contains([]Mode{"", Hybrid, Keyword, Semantic}, q.Mode):
		return invalidQuery("unknown mode "+quoteName(string(q.Mode)), "use hybrid, keyword or semantic")
	case !slices.Contains([]Detail{"", DetailName, DetailSummary, DetailSignature, DetailSchema}, q.Detail):
		return invalidQuery("unknown detail "+quoteName(string(q.Detail)), "use name, summary, signature or schema")
	}
	return nil
}

// hasText reports whether s holds a character that is neither white space nor invalid UTF-8.
func hasText(s string) bool { return strings.TrimSpace(strings.ToValidUTF8(s, "")) != "" }

// invalidQuery returns the Invalid error of a query.
func invalidQuery(msg, hint string) error {
	return &Error{Code: Invalid, Op: "search", Msg: msg, Hint: hint}
}

// Filter restricts a search. The zero Filter lets every enabled tool through. It is applied inside the scan: a limit of
// five gives five tools that pass.
//
// All but Allow are the caller's own choices, and an answer may say that they leave out what would have served. What a
// caller may not know of belongs into Allow alone: no answer hints at it.
type Filter struct {
	Servers    []string // any of these; empty means all
	Categories []string // any of these, case ignored, "other" for tools without one; empty means all
	ReadOnly   bool     // only tools annotated as changing nothing
	Disabled   bool     // disabled tools too
	Allow      func(*Tool) bool
}

// Match reports whether t passes f.
func (f *Filter) Match(t *Tool) bool {
	if t.Disabled && !f.Disabled || f.ReadOnly && !t.ReadOnly() {
		return false
	}
	if len(f.Servers) > 0 && !slices.Contains(f.Servers, t.Server) {
		return false
	}
	if len(f.Categories) > 0 && !slices.ContainsFunc(f.Categories, func(c string) bool {
		return strings.EqualFold(c, cmp.Or(t.Category, "other"))
	}) {
		return false
	}
	return f.Allow == nil || f.Allow(t)
}

// Result answers a Query. The same index and query give the same Result, to the byte once encoded.
type Result struct {
	Query string `json:"query"`
	Tools []Hit  `json:"tools"` // best first; ties by ID; never nil
	// Groups holds, for several needs, the tools of each; Tools then holds them all, best of each need first.
	Groups []Group `json:"groups,omitempty"`
	// Skills are those that serve the query, best first. They are no tools, and count for nothing else in the Result.
	Skills    []Skill `json:"skills,omitempty"`
	Confident bool    `json:"confident"` // false: probably no tool here does this
	Advice    *Advice `json:"advice,omitempty"`
	Tokens    int     `json:"tokens"`             // what Tools cost an agent to read at the asked detail
	Degraded  string  `json:"degraded,omitempty"` // why only words were searched; "" if all was well
}

// Group is the part of a Result that answers one of several needs.
type Group struct {
	Query     string  `json:"query"`
	Tools     []Hit   `json:"tools"`
	Confident bool    `json:"confident"`
	Advice    *Advice `json:"advice,omitempty"`
}

// Advice says what to try when no tool fits.
type Advice struct {
	Message       string     `json:"message"`                 // one sentence
	NotUnderstood []string   `json:"notUnderstood,omitempty"` // words of the request that no tool here knows
	Kinds         []string   `json:"kinds,omitempty"`         // kinds of servers that would serve, nearest first
	Categories    []string   `json:"categories,omitempty"`    // categories here that are nearest
	Excluded      []Excluded `json:"unseen,omitempty"`        // what was not searched and might serve
	// NoRequest is set where the text is talk or noise: it asks for nothing that a tool does.
	NoRequest bool `json:"noRequest,omitempty"`
}

// Excluded describes tools that a search left out and that might serve.
type Excluded struct {
	// the filter that left them out (servers, categories, read_only), disabled, reading or stopped
	Why     string   `json:"why"`
	Tools   int      `json:"tools,omitempty"`   // how many seem to serve; 0 where that cannot be known
	Servers []string `json:"servers,omitempty"` // whose they are, by name, a few; never those of disabled tools
	Text    string   `json:"text"`              // one sentence that says so, and what to do
}

// Hit is one tool of a Result. Signature and the schemas are present at the details of those names.
type Hit struct {
	ID       ID     `json:"id"`
	Name     string `json:"name"`
	Server   string `json:"server"`
	Exposed  string `json:"exposed"` // the name under which clients may call it directly
	Summary  string `json:"summary,omitempty"`
	Category string `json:"category,omitempty"`
	// the Warning of the tool; "" at DetailName, where nothing is said of it
	Warning string `json:"warning,omitempty"`
	// what to use instead of the tool; "" if it is not deprecated
	Deprecated string `json:"deprecated,omitempty"`
	// exposed names of the same tool on other servers, which take no place of their own; the best few
	Also    []string `json:"also,omitempty"`
	Failed  bool     `json:"failed,omitempty"`  // its server could not be started last, or ended since
	Confirm bool     `json:"confirm,omitempty"` // a call of it needs to be confirmed by a person
	// 0 to 1: the calibrated probability that this tool serves, the same from query to query
	Score      float64  `json:"score"`
	Signature  string   `json:"signature,omitempty"`
	Schema     any      `json:"inputSchema,omitempty"`
	Output     any      `json:"outputSchema,omitempty"`
	Explain    *Explain `json:"explain,omitempty"`
	Tool       *Tool    `json:"-"`
	Duplicates []ID     `json:"-"` // the tools that Also names
}

// Explain is how a score came about.
type Explain struct {
	Keyword  float64 `json:"keyword"`           // BM25F
	Semantic float64 `json:"semantic"`          // cosine
	Fused    float64 `json:"fused"`             // before calibration
	Learned  float64 `json:"learned,omitempty"` // what use added to Fused
	Weight   float64 `json:"weight"`            // of the semantic part
	Exact    bool    `json:"exact,omitempty"`   // the request is the tool's name
	// the tool does another thing than is asked for: it deletes, say, and does not read
	OppositeAction bool               `json:"contrary,omitempty"`
	Terms          map[string]float64 `json:"terms,omitempty"` // what each word of the request added
	Borrowed       []Loan             `json:"borrowed,omitempty"`
}

// Loan names an archetype that lent its words to a tool, and by what weight: 1 is that of the likest.
type Loan struct {
	Archetype string  `json:"archetype"`
	Weight    float64 `json:"weight"`
}

// Searcher answers queries. Implementations are safe for concurrent use, return promptly when ctx ends, and give errors
// of type *Error: Invalid for a query that can never be answered, Timeout when ctx ended first.
type Searcher interface {
	Search(ctx context.Context, q Query) (*Result, error)
}
