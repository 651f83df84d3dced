package knowledge

import "sync"

// Effect is what an operation does to what it is about. Operations of different effects answer different requests,
// however alike their words are. The zero Effect is unknown.
type Effect uint8

const (
	unknownEffect Effect = iota
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
var effectOf = sync.OnceValue(func() map[string]Effect {
	m := map[string]Effect{}
	for e, verbs := range []string{
		reads: verbsReading, creates: verbsCreating, changes: verbsChanging,
		deletes: verbsDeleting,
	} {
		for _, stem := range Terms(verbs) {
			m[stem] = Effect(e)
		}
	}
	return m
})

// NameEffect returns the effect that a tool's name states first.
func (a *Analyzer) NameEffect(name string) Effect {
	of := effectOf()
	a.terms = a.Terms(a.terms[:0], name)
	for _, t := range a.terms {
		if e := of[t]; e != unknownEffect {
			return e
		}
	}
	return unknownEffect
}

// RequestedEffect returns the effect that a request, given by its words in lower case, begins by asking for.
func (a *Analyzer) RequestedEffect(words []string) Effect {
	if len(words) == 0 {
		return unknownEffect
	}
	a.terms = a.Terms(a.terms[:0], words[0])
	if len(a.terms) == 0 {
		return unknownEffect
	}
	if e := effectOf()[a.terms[0]]; e != unknownEffect {
		return e
	}
	if len(words) > 1 && articles[words[1]] && makers[words[0]] {
		return creates
	}
	return unknownEffect
}

// What verbs that can mean anything do to something new: open a ticket, put up a notice.
var (
	makers   = setOf("open raise file start make write put set launch submit log build begin spin")
	articles = setOf("a an new another")
)

// Contradicts reports whether two effects are known and differ.
func (e Effect) Contradicts(other Effect) bool {
	return e != unknownEffect && other != unknownEffect && e != other
}
