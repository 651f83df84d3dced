package httpapi

import (
	"net/http"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

// diary writes down what a Learner is told.
type diary struct {
	lines []string
	who   []tool.Asker
}

func (d *diary) add(who tool.Asker, line string) {
	d.lines, d.who = append(d.lines, line), append(d.who, who)
}

func (d *diary) RecordSearch(who tool.Asker, res *tool.Result) { d.add(who, "searched "+res.Query) }
func (d *diary) RecordCall(who tool.Asker, id tool.ID)         { d.add(who, "called "+string(id)) }
func (d *diary) RecordFeedback(who tool.Asker, f tool.Feedback) error {
	line := "told " + f.Request + " " + string(f.Tool)
	if f.Wrong {
		line += " wrong"
	}
	d.add(who, line)
	return nil
}

func TestLearnerIsTold(t *testing.T) {
	d := &diary{}
	f := newFixture(t, func(o *Options) { o.Learner = d })
	agent := []string{"User-Agent", "probe/1.2", sessionHeader, "one"}
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{http.MethodGet, "/search?q=file", "", http.StatusOK},
		{http.MethodPost, "/api/tools/files%2Fread_file/call", `{"arguments":{"z":"x"}}`, http.StatusOK},
		{http.MethodPost, "/api/feedback", `{"query":"open it","tool":"read_file"}`, http.StatusOK},
		{http.MethodPost, "/api/feedback", `{"query":"open it","tool":"odd/call","wrong":true}`, http.StatusOK},
		{http.MethodPost, "/api/feedback", `{"query":" ","tool":"odd/call"}`, http.StatusBadRequest},
		{http.MethodPost, "/api/feedback", `{"query":"x","tool":"nobody/nothing"}`, http.StatusNotFound},
		{http.MethodPost, "/api/feedback", `{"quarry":"x"}`, http.StatusBadRequest},
	} {
		if w := f.do(c.method, c.path, c.body, agent...); w.Code != c.status {
			t.Errorf("%s %s %s: status %d, want %d\n%s", c.method, c.path, c.body, w.Code, c.status, w.Body)
		}
	}
	want := []string{
		"searched file", "called files/read_file", "told open it files/read_file",
		"told open it odd/call wrong",
	}
	if diff := gocmp.Diff(want, d.lines); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, who := range d.who {
		if diff := gocmp.Diff(tool.Asker{Session: "one", Client: "probe"}, who); diff != "" {
			t.Errorf("asked by (-want +got)\n%s", diff)
		}
	}
	f.do(http.MethodGet, "/search?q=file", "", "User-Agent", "probe/1.2")
	if who := d.who[len(d.who)-1]; who.Session == "" || who.Session == "one" {
		t.Errorf("a request without a session is of %+v", who)
	}
}

func TestFeedbackWithoutLearner(t *testing.T) {
	if w := newFixture(t, nil).do(http.MethodPost, "/api/feedback",
		`{"query":"x","tool":"odd/call"}`); w.Code != http.StatusForbidden {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}
