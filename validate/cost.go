package validate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"tooldex/internal/sanitize"
)

// graph is the part of a schema that decides how long a check takes: which parts look at the same value again, and
// which at a value inside it. The library follows both without a bound, and a stack overflow cannot be recovered from.
// A graph does not change after prepareSchema.
type graph struct {
	nodes []node
	at    map[string]int // by JSON pointer
	// work is the largest number of parts that look at values along one path of a value, by the depth of that value.
	work []int
}

// node is one part of a schema.
type node struct {
	same   []int  // parts checked on the same value: $ref, allOf, anyOf, …
	inside []int  // parts checked on members and items
	ref    string // the $ref, until linkReferences adds it to same
}

// view is which values a part of a schema looks at.
type view int

const (
	same   view = iota // the value that the whole looks at
	inside             // its members or items
	none               // none, unless something refers to the part
)

// keywords are those that contain schemas: one or a list, or, if named is set, an object of them.
var keywords = [...]struct {
	name  string
	looks view
	named bool
}{
	{"allOf", same, false},
	{"anyOf", same, false},
	{"oneOf", same, false},
	{"not", same, false},
	{"if", same, false},
	{"then", same, false},
	{"else", same, false},
	{"dependentSchemas", same, true},
	{"dependencies", same, true},
	{"items", inside, false},
	{"prefixItems", inside, false},
	{"additionalItems", inside, false},
	{"contains", inside, false},
	{"additionalProperties", inside, false},
	{"propertyNames", inside, false},
	{"unevaluatedItems", inside, false},
	{"unevaluatedProperties", inside, false},
	{"properties", inside, true},
	{"patternProperties", inside, true},
	{"$defs", none, true},
	{"definitions", none, true},
}

// Bounds of what is checked. Real schemas stay far below.
const (
	maxSchema   = 1 << 20 // bytes
	maxNodes    = 20_000
	maxDepth    = 100       // the library's time grows with the square of the depth
	maxSame     = 5_000     // parts that look at one value
	maxWork     = 1_000_000 // parts looking at values, in all
	maxArgDepth = 64
)

// prepareSchema returns the schema in a form that the library accepts, with its graph. It drops what the library or RE2
// cannot read and a check can do without: some patterns, the version. It refuses what could not be checked safely.
func prepareSchema(schema json.RawMessage) (json.RawMessage, *graph, error) {
	if len(schema) == 0 || len(schema) > maxSchema {
		return nil, nil, fmt.Errorf("schema has %d bytes", len(schema))
	}
	// UseNumber keeps the digits of large limits.
	dec := json.NewDecoder(bytes.NewReader(schema))
	dec.UseNumber()
	var root map[string]any
	if err := dec.Decode(&root); err != nil {
		return nil, nil, fmt.Errorf("schema is not an object: %w", err)
	}
	if root == nil || !allowsObject(root["type"]) {
		return nil, nil, errors.New("schema is not one of an object")
	}
	if version, ok := root["$schema"].(string); ok {
		// The library knows only two versions, in one spelling each.
		delete(root, "$schema")
		if strings.Contains(version, "draft-0") {
			root["$schema"] = "http://json-schema.org/draft-07/schema#"
		}
	}
	delete(root, "$id") // the library refuses a relative one, and nothing outside refers to it
	g := &graph{at: map[string]int{}}
	// Three passes: collect the parts, resolve references between them, then bound the work.
	if _, err := g.addSchema(root, "", 0); err != nil {
		return nil, nil, err
	}
	if err := g.linkReferences(); err != nil {
		return nil, nil, err
	}
	if err := g.computeWork(); err != nil {
		return nil, nil, err
	}
	clean, err := json.Marshal(root)
	return clean, g, err
}

// allowsObject reports whether a type keyword allows an object.
func allowsObject(types any) bool {
	switch t := types.(type) {
	case nil:
		return true
	case string:
		return t == "object"
	case []any:
		for _, one := range t {
			if one == "object" {
				return true
			}
		}
	}
	return false
}

// addSchema adds a schema and everything in it to the graph, and drops its unusable patterns. It returns the index of
// its node.
func (g *graph) addSchema(v any, pointer string, depth int) (int, error) {
	i := len(g.nodes)
	if i >= maxNodes || depth > maxDepth {
		return 0, errors.New("schema has too many parts, or they lie too deep")
	}
	g.nodes = append(g.nodes, node{})
	g.at[pointer] = i
	s, ok := v.(map[string]any)
	if !ok { // true, false, or something that the library will refuse
		return i, nil
	}
	// Each makes the target of a reference depend on where the check came from, which the graph does not model.
	for _, key := range []string{"$dynamicRef", "$recursiveRef", "$id"} {
		if _, ok := s[key]; ok {
			return 0, errors.New("schema has a " + key)
		}
	}
	dropPatterns(s)
	g.nodes[i].ref, _ = s["$ref"].(string)
	for _, k := range keywords {
		held, err := g.addHeld(s[k.name], pointer+"/"+k.name, depth+1, k.named)
		if err != nil {
			return 0, err
		}
		switch n := &g.nodes[i]; k.looks {
		case same:
			n.same = append(n.same, held...)
		case inside:
			n.inside = append(n.inside, held...)
		}
	}
	return i, nil
}

// addHeld adds the schemas under one keyword.
func (g *graph) addHeld(v any, pointer string, depth int, named bool) ([]int, error) {
	parts := map[string]any{}
	switch v := v.(type) {
	case map[string]any:
		if !named {
			i, err := g.addSchema(v, pointer, depth)
			return []int{i}, err
		}
		for key, part := range v {
			// as JSON pointers escape them
			parts[strings.NewReplacer("~", "~0", "/", "~1").Replace(key)] = part
		}
	case []any:
		for i, part := range v {
			parts[strconv.Itoa(i)] = part
		}
	}
	var held []int
	for key, part := range parts {
		i, err := g.addSchema(part, pointer+"/"+key, depth)
		if err != nil {
			return nil, err
		}
		held = append(held, i)
	}
	return held, nil
}

// dropPatterns removes regular expressions that RE2 does not have, such as lookahead: one of them would make the whole
// schema unusable. What a dropped pattern would have allowed must not be refused as unknown.
func dropPatterns(s map[string]any) {
	if p, ok := s["pattern"].(string); ok {
		if _, err := regexp.Compile(p); err != nil {
			delete(s, "pattern")
		}
	}
	named, _ := s["patternProperties"].(map[string]any)
	for p := range named {
		if _, err := regexp.Compile(p); err != nil {
			delete(named, p)
			delete(s, "additionalProperties")
			delete(s, "unevaluatedProperties")
		}
	}
}

// linkReferences resolves every reference. It refuses those that leave the schema, or name no part of it.
func (g *graph) linkReferences() error {
	for i := range g.nodes {
		n := &g.nodes[i]
		if n.ref == "" {
			continue
		}
		pointer, local := strings.CutPrefix(n.ref, "#")
		if unescaped, err := url.PathUnescape(pointer); err == nil {
			pointer = unescaped
		}
		to, ok := g.at[pointer]
		if !local || !ok {
			return fmt.Errorf("schema refers to %q, which it does not hold", sanitize.Clip(n.ref, 200))
		}
		n.same = append(n.same, to)
	}
	return nil
}

// computeWork computes work. It refuses a schema that would look at one value for ever or very often.
func (g *graph) computeWork() error {
	order, err := g.sortParts()
	if err != nil {
		return err
	}
	before := make([]int, len(g.nodes))
	for depth := 0; depth <= maxArgDepth; depth++ {
		now := make([]int, len(g.nodes))
		changed := false
		for _, i := range order {
			n, most := &g.nodes[i], 0
			for _, c := range n.inside {
				most = max(most, before[c])
			}
			// A value costs one step for the part itself, the most expensive of its members, and all parts that look at
			// the same value.
			work := 1 + most
			for _, c := range n.same {
				work = min(work+now[c], maxWork+1)
			}
			now[i] = work
			changed = changed || work != before[i]
		}
		// At depth 0 no part has members to look at, so the work is that of all parts on one value.
		if depth == 0 && now[0] > maxSame {
			return errors.New("schema looks at one value too often")
		}
		g.work = append(g.work, now[0])
		// From here on, deeper values cost the same; workFor uses the last entry.
		if !changed {
			break
		}
		before = now
	}
	return nil
}

// sortParts sorts the parts so that each comes after those that it applies to the same value. The error is for a
// circle.
func (g *graph) sortParts() ([]int, error) {
	const (
		unseen = iota
		open
		done
	)
	state := make([]int, len(g.nodes))
	order := make([]int, 0, len(g.nodes))
	var visit func(i int) error
	visit = func(i int) error {
		switch state[i] {
		case open:
			return errors.New("schema refers to itself without going into the value")
		case done:
			return nil
		}
		state[i] = open
		for _, c := range g.nodes[i].same {
			if err := visit(c); err != nil {
				return err
			}
		}
		state[i] = done
		order = append(order, i)
		return nil
	}
	for i := range g.nodes {
		if err := visit(i); err != nil {
			return nil, err
		}
	}
	return order, nil
}

// workFor returns an upper bound of the number of parts that look at values when v is checked; more than maxWork if
// that is too much.
func (g *graph) workFor(v any) int {
	values, depth := countValues(v)
	if depth > maxArgDepth {
		return maxWork + 1
	}
	work := g.work[min(depth, len(g.work)-1)]
	// the product could overflow
	if work > maxWork/values {
		return maxWork + 1
	}
	return work * values
}

// countValues returns the number of values in a JSON value, including itself, and how deep they lie.
func countValues(v any) (values, depth int) {
	values = 1
	within := func(part any) {
		n, d := countValues(part)
		values += n
		depth = max(depth, d+1)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, part := range v {
			within(part)
		}
	case []any:
		for _, part := range v {
			within(part)
		}
	}
	return values, depth
}
