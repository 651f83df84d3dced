package search

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tooldex/knowledge"
	"tooldex/tool"
)

func TestParts(t *testing.T) {
	e := New(options(t, nil))
	var an knowledge.Analyzer
	for _, c := range []struct {
		text, want string // parts between slashes; "" for one thing
		short      string // why a row is not managed yet
	}{
		{text: "create issue"},
		{text: "search and replace"},
		{text: "send an email to Bob and Alice"},
		{text: "list users and groups"},
		{text: "create a repository with a readme and a license"},
		{text: "find restaurants, cafes and bars near me", short: "names of tools begin with bar, so bars is a verb"},
		{text: "compare the prices of apples, pears and plums"},
		{text: "what is the difference between merge and rebase?"},
		{text: "please, can you show me the weather"},
		{text: "Hi there! Show me the weather in Oslo."},
		{text: "I have a problem: the build is red"},
		{text: "drag and drop the file"},
		{text: "copy and paste"},
		{text: "the deploy failed, tell me why"},
		{text: "convert 5 km to miles, please"},
		{text: "show me the logs of api, worker and web"},
		{text: ""},
		{text: "."},
		{text: "and then"},
		{text: "create an issue and send an email to the team", want: "create an issue/send an email to the team"},
		{
			text: "Read the file, summarize its content and post it to the channel",
			want: "Read the file/summarize its content/post it to the channel",
		},
		{
			text: "Search for flights to Rome. Then book a hotel room. Finally add the trip to my calendar.",
			want: "Search for flights to Rome/book a hotel room/Finally add the trip to my calendar.",
		},
		{
			text: "list open issues; close the stale ones; notify the assignees",
			want: "list open issues/close the stale ones/notify the assignees",
		},
		{text: "get the invoice and then refund the customer", want: "get the invoice/refund the customer"},
		{
			text: "first create a branch\nnext commit the files\nthen open a pull request",
			want: "first create a branch/next commit the files/open a pull request",
		},
		{
			text: "I need to restart the server, and also check the logs",
			want: "I need to restart the server/check the logs",
		},
		{
			text: "For the shop in Oslo: list unpaid orders and email the customers",
			want: "For the shop in Oslo list unpaid orders/email the customers",
		},
		{text: "create a note, a short one, and send it to Bob", want: "create a note, a short one/send it to Bob"},
		{
			text:  "turn on the lights and set the temperature to 21 degrees",
			want:  "turn on the lights/set the temperature to 21 degrees",
			short: "verbs of two words are not verbs by their first",
		},
		{
			text: "Could you fetch the page, translate the text and save it to disk?",
			want: "Could you fetch the page/translate the text/save it to disk?",
		},
	} {
		t.Run(c.text, func(t *testing.T) {
			var want []string
			if c.want != "" {
				want = strings.Split(c.want, "/")
			}
			if d := cmp.Diff(want, e.splitRequest(c.text, &an), cmpopts.EquateEmpty()); d != "" {
				if c.short != "" {
					t.Skipf("falls short: %s\n%s", c.short, d)
				}
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
	t.Run("without knowledge nothing is split", func(t *testing.T) {
		if got := New(Options{}).splitRequest("create an issue and send an email to the team", &an); got != nil {
			t.Errorf("%q", got)
		}
	})
	t.Run("many", func(t *testing.T) {
		if got := e.splitRequest(strings.Repeat("create a new issue, ", 50), &an); len(got) != maxParts {
			t.Errorf("%d parts", len(got))
		}
	})
}

func FuzzParts(f *testing.F) {
	e := New(options(f, nil))
	f.Add("create an issue and send an email")
	f.Add("a, and then and then; and\nplus. create issue x and also")
	f.Fuzz(func(t *testing.T, text string) {
		var an knowledge.Analyzer
		got := e.splitRequest(text, &an)
		if len(got) == 1 || len(got) > maxParts || slices.Contains(got, "") {
			t.Errorf("%q gives %q", text, got)
		}
	})
}

// TestSearchOfParts finds a tool for each thing that is asked for.
func TestSearchOfParts(t *testing.T) {
	e := engineOf(t, catalogue(t))
	for text, want := range map[string][]tool.ID{
		"create an issue about the crash and post a message to the channel":                          {"forge/create_issue", "chat/post_message"},
		"restart the payment service, then read its log":                                             {"ops/restart_service", "ops/get_logs"},
		"list the orders of the customer, refund the last payment and send an email to the customer": {"shop/list_orders", "shop/refund_payment", "mail/send_email"},
		"dim the lights in the kitchen. Set the temperature to 21 degrees.":                          {"home/set_lights", "home/set_temperature"},
	} {
		t.Run(text, func(t *testing.T) {
			for _, limit := range []int{len(want), 5, 10} {
				r := mustSearch(t, e, tool.Query{Text: text, Limit: limit})
				if len(r.Groups) != len(want) || r.Query != text || len(r.Tools) != limit {
					t.Fatalf("limit %d: %d groups, query %q, %d tools", limit, len(r.Groups), r.Query, len(r.Tools))
				}
				checkGroups(t, r)
				for i, id := range want {
					if r.Groups[i].Tools[0].ID != id || !slices.Contains(hitIDs(r.Tools[:len(want)]), id) {
						t.Errorf("limit %d, part %q finds %v; all: %v", limit, r.Groups[i].Query,
							hitIDs(r.Groups[i].Tools), hitIDs(r.Tools))
					}
				}
				if !r.Confident {
					t.Errorf("limit %d: not confident", limit)
				}
			}
		})
	}
}

// TestSearchOfOneThingInParts gives a request whose parts all lead to one tool a plain answer.
func TestSearchOfOneThingInParts(t *testing.T) {
	e := engineOf(t, catalogue(t))
	text := "create an issue about the crash, and open an issue for the failing login"
	if parts := e.splitRequest(text, new(knowledge.Analyzer)); len(parts) != 2 {
		t.Fatalf("the request has %d parts", len(parts))
	}
	r := mustSearch(t, e, tool.Query{Text: text, Limit: 5})
	if len(r.Groups) > 0 || r.Tools[0].ID != "forge/create_issue" || len(r.Tools) != 5 {
		t.Errorf("%d groups, tools %v", len(r.Groups), hitIDs(r.Tools))
	}
}

// TestFirstOfParts puts first, of the tools that parts need, the one that does most for the whole request.
func TestFirstOfParts(t *testing.T) {
	e := engineOf(t, catalogue(t))
	const one, other = "refund the last payment of the customer", "look up a word"
	for _, text := range []string{one + ", then " + other, other + ", then " + one} {
		r := mustSearch(t, e, tool.Query{Text: text, Limit: 5})
		if len(r.Groups) != 2 || r.Tools[0].ID != "shop/refund_payment" {
			t.Errorf("%q: %d groups, tools %v", text, len(r.Groups), hitIDs(r.Tools))
		}
	}
}
