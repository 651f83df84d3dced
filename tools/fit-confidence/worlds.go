package main

import (
	"encoding/json"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"tooldex/internal/vector"
	"tooldex/knowledge"
	"tooldex/tool"
)

const (
	folds    = 3
	smallest = 20   // tools of the smallest world
	largest  = 5000 // and of the largest
)

// share returns a number from 0 to 1 that depends on the parts alone.
func share(parts ...string) float64 {
	h := fnv.New64a()
	for _, p := range parts {
		_, _ = h.Write([]byte(p + "\x00")) // a hash takes everything
	}
	x := h.Sum64()
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	return float64((x^x>>33)>>11) / (1 << 53)
}

// kindFold returns the fold of a kind of server, and talkFold that of an example of talk.
func kindFold(kind string) int { return int(folds * share("kind", kind)) }
func talkFold(text string) int { return int(folds * share("talk", text)) }

// operation is an archetype as a tool of a world.
type operation struct {
	*knowledge.Archetype
	known    bool     // the base has it, without requests
	requests []string // that the base does not have
	whole    []float32
	bare     []float32 // the vector without the server
	said     []float32 // mean vector of all requests
}

// The shares of kinds that the base does not have, and has half of, as servers are that nobody prepared for; and of the
// requests that it does not have of the others.
const (
	unknownKinds = .4
	halfKinds    = .25
	heldOut      = .3
)

// divide divides the knowledge into what the base of a fold has, and the operations of the fold by their kind.
func divide(src *knowledge.Source, fold int) (*knowledge.Source, map[string][]*operation) {
	out := *src
	out.Archetypes = nil
	kinds := map[string][]*operation{}
	for i := range src.Archetypes {
		a := &src.Archetypes[i]
		if kindFold(a.Server) != fold {
			out.Archetypes = append(out.Archetypes, *a)
			continue
		}
		p := &operation{Archetype: a}
		kinds[a.Server] = append(kinds[a.Server], p)
		how := share("how", a.Server)
		if how < unknownKinds || how < unknownKinds+halfKinds && share("half", a.Server, a.Name) < .5 {
			p.requests = a.Utterances
			continue
		}
		p.known = true
		kept := *a
		kept.Utterances = nil
		for _, u := range a.Utterances {
			if share("request", a.Server, a.Name, u) < heldOut {
				p.requests = append(p.requests, u)
			} else {
				kept.Utterances = append(kept.Utterances, u)
			}
		}
		out.Archetypes = append(out.Archetypes, kept)
	}
	return &out, kinds
}

// embedOperations fills in the vectors of operations.
func embedOperations(kinds map[string][]*operation, enc knowledge.Encoder) {
	one := make([]float32, enc.Dims)
	for _, all := range kinds {
		for _, p := range all {
			p.whole, p.bare, p.said = make([]float32, enc.Dims), make([]float32, enc.Dims), make([]float32, enc.Dims)
			params := strings.Join(p.Params, " ")
			enc.Document(p.Name+" "+p.Server, p.Description, params, p.whole)
			enc.Document(p.Name, p.Description, params, p.bare)
			for _, u := range p.Utterances {
				enc.Query(u, one)
				vector.Axpy(p.said, one, 1)
			}
			if n := math.Sqrt(float64(vector.Dot(p.said, p.said))); n > 0 {
				for i := range p.said {
					p.said[i] /= float32(n)
				}
			}
		}
	}
}

// likeness returns how much two operations do the same, by what they say or by what is said to them.
func (p *operation) likeness(o *operation) float32 {
	if p.Name == o.Name {
		return 1
	}
	return max(vector.Dot(p.bare, o.bare), vector.Dot(p.said, o.said))
}

// asTool returns an operation as a server offers it.
func (p *operation) asTool() (*tool.Tool, error) {
	properties := map[string]any{}
	for _, param := range p.Params {
		name, text, _ := strings.Cut(param, ": ")
		properties[name] = map[string]any{"type": "string", "description": text}
	}
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": properties})
	return &tool.Tool{
		Server: serverName(p.Server), Name: p.Name, Description: p.Description, InputSchema: schema,
	}, err
}

// serverName makes a kind's name one of a server.
func serverName(kind string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(kind), func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9')
	}), "-")
}

// world is a catalogue, and what is not in it.
type world struct {
	tools   []*operation
	missing []*operation // of the same servers
	foreign []*operation // of others
}

// drawWorld draws domains until there are n tools, and most kinds of each, and leaves out some operations of every
// kind. What is foreign is of other domains, but for a few kinds.
func drawWorld(kinds map[string][]*operation, domains map[string]string, n int, r *rand.Rand) *world {
	members := map[string][]string{}
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		members[domains[k]] = append(members[domains[k]], k)
	}
	order := slices.Sorted(maps.Keys(members))
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	w := &world{}
	kept := .3 + .6*r.Float64()
	for _, d := range order {
		other := len(w.tools) >= n
		for _, k := range members[d] {
			if len(w.tools) >= n || r.Float64() >= kept {
				if other || r.Float64() < .2 {
					w.foreign = append(w.foreign, kinds[k]...)
				}
				continue
			}
			without := .1 + .25*r.Float64()
			for _, p := range kinds[k] {
				if r.Float64() < without {
					w.missing = append(w.missing, p)
				} else {
					w.tools = append(w.tools, p)
				}
			}
		}
	}
	return w
}

// worldSize returns the size of the i-th of n worlds.
func worldSize(i, n int) int {
	return int(smallest * math.Pow(largest/smallest, float64(i)/float64(max(1, n-1))))
}
