package search

import (
	_ "embed" // the model of talk
	"sync"

	"tooldex/internal/textclass"
)

// talkModel is the model that distinguishes talk from requests, as tools/fit-confidence trains it: on small talk,
// questions of general knowledge and noise, and on the requests of the archetypes.
//
//go:embed talk.bin
var talkModel []byte

// openTalk opens the model when it is first needed.
var openTalk = sync.OnceValue(func() *textclass.Model {
	m, err := textclass.Open(talkModel)
	if err != nil {
		panic(err) // the bytes are part of the program
	}
	return m
})

// talkScore returns how much a text reads like talk, between leastTalk and mostTalk.
func talkScore(text string) float64 { return BoundTalk(float64(openTalk().Score(text))) }

// BoundTalk bounds a score of the model of talk to what counts as evidence.
func BoundTalk(score float64) float64 { return min(mostTalk, max(leastTalk, score)) }
