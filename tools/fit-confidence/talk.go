package main

import (
	_ "embed" // the examples of talk
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"tooldex/internal/textclass"
	"tooldex/knowledge"
)

// talkLines are texts that ask for no tool, one a line, written for this program. search/testdata has others, for
// tests.
//
//go:embed talk.jsonl
var talkLines string

// talk is one text that asks for no tool. Kind is noise, smalltalk or no_tool_request.
type talk struct{ Text, Kind string }

// readTalk returns the examples of talk.
func readTalk() ([]talk, error) {
	var out []talk
	for line := range strings.Lines(talkLines) {
		var t talk
		if err := json.Unmarshal([]byte(line), &t); err != nil {
			return nil, fmt.Errorf("talk.jsonl: %w", err)
		}
		out = append(out, t)
	}
	return out, nil
}

// talkWeight is how much an example of talk counts in training, where a request counts 1. There are hundreds of
// requests for each.
const talkWeight = 20

// trainTalk trains the model of talk, without the kinds and the talk of one fold; -1 leaves nothing out.
func trainTalk(src *knowledge.Source, all []talk, t *translator, fold int) []byte {
	var rows []textclass.Example
	r := rand.New(rand.NewPCG(1, 1))
	for _, a := range src.Archetypes {
		if kindFold(a.Server) == fold {
			continue
		}
		for _, u := range a.Utterances {
			rows = append(rows, textclass.Example{Text: u})
			switch x := r.Float64(); {
			case x < .1:
				if s := t.translate(u, r); s != "" {
					rows = append(rows, textclass.Example{Text: s})
				}
			case x < .13:
				rows = append(rows, textclass.Example{Text: pick(prefixes(), r) + u})
			case x < .14:
				rows = append(rows, textclass.Example{Text: u + pick(suffixes(), r)})
			}
		}
	}
	for _, x := range all {
		if talkFold(x.Text) != fold {
			rows = append(rows, textclass.Example{Text: x.Text, First: true, Weight: talkWeight})
		}
	}
	return textclass.Train(rows, 1)
}
