package knowledge

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"
	"testing/fstest"
)

// fakeEncoder gives each term a random direction: texts are alike as far as they share terms, the same everywhere and
// always.
func fakeEncoder(dims int) Encoder {
	add := func(into []float32, text string, weight float32) {
		for _, t := range Terms(text) {
			h := fnv.New64a()
			h.Write([]byte(t))
			r := rand.New(rand.NewPCG(h.Sum64(), 0))
			for i := range into {
				into[i] += float32(r.NormFloat64()) * weight
			}
		}
	}
	return Encoder{
		Dims: dims, Fingerprint: "fake",
		Query: func(text string, into []float32) {
			into = into[:dims]
			clear(into)
			add(into, text, 1)
			toUnit(into)
		},
		Document: func(name, description, params string, into []float32) {
			into = into[:dims]
			clear(into)
			add(into, name, 2)
			add(into, description, 1)
			add(into, params, .3)
			toUnit(into)
		},
	}
}

const smallArchetypes = `
{"server":"tracker","name":"create_issue","title":"Create issue","description":"Opens a new issue in a project of the tracker.","params":["title: what is wrong","body: details"],"category":"issues","synonyms":["open ticket","report bug"],"utterances":["file a bug about the login page","something is broken, note it down for the developers","new defect"]}
{"server":"tracker","name":"close_issue","title":"Close issue","description":"Closes an issue of the tracker.","params":["id: of the issue"],"category":"issues","synonyms":["resolve ticket"],"utterances":["this defect is fixed, mark it as done","close WI-77"]}
{"server":"tracker","name":"list_issues","title":"List issues","description":"Lists the issues of a project.","params":["state: open or closed"],"category":"issues","synonyms":[],"utterances":["which defects are still open"]}
{"server":"mail","name":"send_message","title":"Send message","description":"Sends an email to recipients.","params":["to: addresses","subject: line","body: text"],"category":"mail","synonyms":["write email"],"utterances":["tell Anna that I am ill","drop a line to the whole team","mail the report to finance"]}
{"server":"mail","name":"list_messages","title":"List messages","description":"Lists emails of a folder.","params":["folder: name"],"category":"mail","synonyms":["check inbox"],"utterances":["what is new in my inbox"]}
{"server":"weather","name":"get_forecast","title":"Get forecast","description":"Returns the weather forecast of a place.","params":["city: name","days: how many"],"category":"weather","synonyms":["weather prediction"],"utterances":["will it rain tomorrow","do I need an umbrella in Oslo"]}
`

const smallThesaurus = `
{"concept":"issue","kind":"noun","terms":[{"t":"issue","w":1},{"t":"ticket","w":0.9},{"t":"work item","w":0.8},{"t":"card","w":0.4}],"domain":"*"}
{"concept":"problem","kind":"noun","terms":[{"t":"issue","w":0.7},{"t":"problem","w":1}],"domain":"*"}
{"concept":"ask","kind":"verb","terms":[{"t":"ask","w":1},{"t":"request","w":0.8}],"domain":"*"}
{"concept":"roll back","kind":"effect","terms":[{"t":"put back to the former version","w":0.9}],"domain":"*"}
`

const smallLexicon = `
{"en":"file","pos":"noun","de":["Datei","Dateien"],"fr":["fichier"],"ru":["файл"],"zh":["文件"],"ko":["파일"],"ar":["ملف"]}
{"en":"delete","pos":"verb","de":["löschen","lösche"],"fr":["supprimer"],"ru":["удалить"],"zh":["删除"],"ko":["삭제"],"ar":["احذف"]}
{"en":"pull request","pos":"noun","de":["Merge-Anfrage"],"zh":["合并请求"]}
{"en":"size","pos":"noun","de":["größe"]}
`

func smallFiles() fstest.MapFS {
	return fstest.MapFS{
		"archetypes/all/small.jsonl": {Data: []byte(smallArchetypes)},
		"thesaurus.jsonl":            {Data: []byte(smallThesaurus)},
		"lexicon.jsonl":              {Data: []byte(smallLexicon)},
	}
}

func smallSource(t testing.TB) *Source {
	t.Helper()
	src, err := ReadSource(smallFiles())
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func smallBytes(t testing.TB, enc Encoder) []byte {
	t.Helper()
	data, err := Compile(smallSource(t), enc)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func smallBase(t testing.TB) *Base {
	t.Helper()
	b, err := Open(smallBytes(t, fakeEncoder(64)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// archetype returns the number of an archetype of the small base.
func archetype(t testing.TB, b *Base, name string) int {
	t.Helper()
	for i := range b.Len() {
		h, err := b.Head(i)
		if err != nil {
			t.Fatal(err)
		}
		if h.Name == name {
			return i
		}
	}
	t.Fatalf("no archetype %s", name)
	return 0
}

func toUnit(v []float32) {
	length := math.Sqrt(product(v, v))
	if length == 0 {
		return
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / length)
	}
}

func product(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func cosineOf(a, b []float32) float64 { return product(a, b) / math.Sqrt(product(a, a)*product(b, b)) }
