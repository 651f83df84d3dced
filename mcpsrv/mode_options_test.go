package mcpsrv

import (
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestReconfigure serves a client that stays connected in other ways, and wants it to be told once of each that it can
// see.
func TestReconfigure(t *testing.T) {
	for _, revision := range generations {
		t.Run(revision, func(t *testing.T) {
			o := Options{Mode: Search}
			f := newFixture(t, smallServer(t), o)
			last := f.connect(t, revision, nil)
			// A stateless client keeps a list for as long as it was told, so another one looks.
			session := func() *mcp.ClientSession {
				if revision == statelessRevision {
					last = f.connect(t, revision, nil)
				}
				return last
			}
			names := func() (out []string) {
				for one, err := range session().Tools(t.Context(), nil) {
					if err != nil {
						t.Fatal(err)
					}
					out = append(out, one.Name)
				}
				return out
			}
			if got := servedIn(t, session()); got != Search {
				t.Fatalf("served in %s", got)
			}
			o.Always, o.Summary = []string{"read_file", "nothing_like_it"}, "Files, and no more."
			f.Reconfigure(o)
			list, err := session().ListTools(t.Context(), nil)
			if err != nil || !slices.Contains(names(), "read_file") || !strings.Contains(list.Tools[0].Description,
				o.Summary) {
				t.Errorf("what is always available is not listed, or the summary is another: %v, %v", names(), err)
			}
			if !strings.Contains(f.log.String(), "nothing_like_it") {
				t.Error("nothing is said of a name that names nothing")
			}
			o.Mode = Full
			f.Reconfigure(o)
			if got := servedIn(t, session()); got != Full {
				t.Errorf("served in %s, want full", got)
			}
			o.Mode, o.Threshold = Auto, -1
			f.Reconfigure(o)
			if got := servedIn(t, session()); got != Search {
				t.Errorf("auto without a threshold serves in %s", got)
			}
			o.Followers = []string{"test"}
			f.Reconfigure(o)
			want := Dynamic
			if revision == statelessRevision {
				want = Search
			}
			if got := servedIn(t, session()); got != want {
				t.Errorf("a client that is said to follow is served in %s, want %s", got, want)
			}
		})
	}
}

// TestReconfigureTells wants a client that is served as before to be left in peace.
func TestReconfigureTells(t *testing.T) {
	o := Options{Mode: Search}
	f := newFixture(t, smallServer(t), o)
	before := f.announced
	f.Reconfigure(o)
	if f.announced != before {
		t.Error("the same options are announced as a change")
	}
	o.Summary = "Others."
	f.Reconfigure(o)
	if f.announced == before {
		t.Error("another summary is not announced")
	}
}
