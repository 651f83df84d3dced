package knowledge

import "sync"

// effect is what an operation does to what it is about. Operations of different effects answer different requests, however
// alike their words are.
type effect uint8

const (
	unknownEffect effect = iota
	reads
	creates
	changes
	deletes
)

// effectVerbs lists the verbs whose effect is plain; those that can mean several are left out.
const (
	verbsReading  = "get read fetch show view describe list search find query lookup retrieve count inspect browse check preview download export compare summarize analyze audit explain"
	verbsCreating = "create add new insert upload post import clone duplicate copy generate publish draft register invite schedule book"
	verbsChanging = "update edit set modify change patch rename move assign merge close reopen enable disable approve reject archive restore unarchive lock unlock pause resume cancel convert format replace toggle"
	verbsDeleting = "delete remove destroy drop purge clear revoke uninstall unsubscribe terminate erase"
)

// effectOf maps stems to effects.
var effectOf = sync.OnceValue(func() map[string]effect {
	m := map[string]effect{}
	for e, verbs := range []string{reads: verbsReading, creates: verbsCreating, changes: verbsChanging, deletes: verbsDeleting} {
		for _, stem := range Terms(verbs) {
			m[stem] = effect(e)
		}
	}
	return m
})

// effectIn returns the effect that a tool's name states first.
func (a *Analyzer) effectIn(name string) effect {
	of := effectOf()
	a.terms = a.Terms(a.terms[:0], name)
	for _, t := range a.terms {
		if e := of[t]; e != unknownEffect {
			return e
		}
	}
	return unknownEffect
}

// contradict reports whether two effects are known and differ.
func contradict(a, b effect) bool { return a != unknownEffect && b != unknownEffect && a != b }
