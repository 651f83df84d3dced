package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/index"
	"tooldex/tool"
)

// told makes a tool with parameters of these names.
func told(id tool.ID, description string, params ...string) *tool.Tool {
	properties := map[string]any{}
	for _, p := range params {
		properties[p] = map[string]any{"type": "string"}
	}
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": properties})
	if err != nil {
		panic(err) // of strings alone it cannot fail
	}
	return &tool.Tool{Server: id.Server(), Name: id.Name(), Description: description, InputSchema: schema}
}

// families gives the IDs of those that are one tool.
func families(t testing.TB, tools []*tool.Tool) [][]tool.ID {
	t.Helper()
	s, err := NewSnapshot(context.Background(), tool.NewSet(tools, ""), Model{}, index.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out [][]tool.ID
	for _, f := range s.DuplicateGroups() {
		var ids []tool.ID
		for _, i := range f {
			ids = append(ids, s.Set().All()[i].ID())
		}
		out = append(out, ids)
	}
	return out
}

func TestTwins(t *testing.T) {
	read := "Read the complete contents of a file from the file system as text."
	for name, c := range map[string]struct {
		reason string
		tools  []*tool.Tool
		want   [][]tool.ID
	}{
		"two accounts": {
			"the same server twice",
			[]*tool.Tool{told("home/read_file", read, "path"), told("work/read_file", read, "path")},
			[][]tool.ID{{"home/read_file", "work/read_file"}},
		},
		"three": {
			"a family is as large as it is",
			[]*tool.Tool{
				told("a/read_file", read, "path"), told("b/readFile", read, "path"),
				told("c/READ-FILE", read, "path"),
			},
			[][]tool.ID{{"a/read_file", "b/readFile", "c/READ-FILE"}},
		},
		"with the server's name before it": {
			"some servers write their own name into those of their tools",
			[]*tool.Tool{told("files/files_read_document", read, "path"), told("disk/read_document", read, "path")},
			[][]tool.ID{{"disk/read_document", "files/files_read_document"}},
		},
		"two versions": {
			"what a later version adds does not make another tool",
			[]*tool.Tool{
				told("old/merge_request", "Merge a request into its target branch", "owner", "repo", "number", "title"),
				told("new/merge_request", "Merge a request into its target branch once all checks have passed.",
					"owner", "repo", "number", "method"),
			},
			[][]tool.ID{{"new/merge_request", "old/merge_request"}},
		},
		"nothing to enter": {
			"without parameters only the whole text can tell",
			[]*tool.Tool{
				told("a/now", "Get the current local time", []string{}...),
				told("b/now", "Get the current local time.", []string{}...),
			},
			[][]tool.ID{{"a/now", "b/now"}},
		},
		"nothing to enter, other words": {
			"as above", []*tool.Tool{
				told("a/now", "Get the current local time"),
				told("b/now", "Get the current local time and date"),
			}, nil,
		},
		"of one server": {
			"a server does not offer one tool twice", []*tool.Tool{
				told("a/read_file", read, "path"),
				told("a/readFile", read, "path"),
			}, nil,
		},
		"namesakes": {
			"the name alone says nothing", []*tool.Tool{
				told("drive/search", "Search the documents of the drive for a text", "query", "limit"),
				told("desk/search", "Search customers' tickets by their state and owner", "query", "limit"),
			}, nil,
		},
		"one text names its service": {
			"the same words said of two services", []*tool.Tool{
				told("mysql/execute", "Execute an SQL query on the MySQL server and return its rows", "query", "params",
					"limit"),
				told("oracle/execute", "Execute an SQL query on the Oracle server and return its rows", "query",
					"params", "limit"),
			}, nil,
		},
		"only one names its service": {
			"the other may be any", []*tool.Tool{
				told("sqlite/read_query", "Execute a SELECT query on the SQLite database file", "query", "timeout",
					"limit", "page"),
				told("snow/read_query", "Execute a SELECT query on the database", "query", "timeout", "limit", "page"),
			}, nil,
		},
		"other parameters": {
			"what has to be entered tells tools apart", []*tool.Tool{
				told("hub/create_issue", "Create a new issue in a project", "owner", "repo", "title", "body"),
				told("lab/create_issue", "Create a new issue in a project", "project_id", "title", "weight",
					"confidential"),
			}, nil,
		},
		"hardly a word": {
			"too little to tell by", []*tool.Tool{
				told("a/search", "Search", "query"),
				told("b/search", "Search", "query"),
			}, nil,
		},
		"no word": {
			"too little to tell by", []*tool.Tool{
				told("a/search", "", "query", "limit", "offset"),
				told("b/search", "", "query", "limit", "offset"),
			}, nil,
		},
		"a habit of a framework": {
			"of servers that share nothing else one tool is not a copy", []*tool.Tool{
				told("cars/get_version", "Returns the version of the service in format X.Y.Z", "verbose"),
				told("cars/paint", "Paint the car", "colour"), told("cars/wash", "Wash the car", "how"),
				told("maps/get_version", "Returns the version of the service in format X.Y.Z", "verbose"),
				told("maps/route", "Find a route", "to"), told("maps/zoom", "Zoom in", "by"),
			}, nil,
		},
		"one character": {
			"what is no letter may tell names apart", []*tool.Tool{
				told("a/versions", "C++ versions of the compiler"), told("b/versions", "C# versions of the compiler"),
			}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, families(t, c.tools)); d != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, d)
			}
			slices.Reverse(c.tools)
			if d := cmp.Diff(c.want, families(t, c.tools)); d != "" {
				t.Errorf("in another order (-want +got):\n%s", d)
			}
		})
	}
}

// TestTwinsOfMany puts one server there a thousand times: each of its tools is one family, found in a time that grows
// with them.
func TestTwinsOfMany(t *testing.T) {
	var tools []*tool.Tool
	for i := range 1000 {
		server := fmt.Sprintf("copy%04d", i)
		tools = append(tools,
			told(tool.MakeID(server, "read_file"), "Read the whole text of a file", "path", "encoding"),
			told(tool.MakeID(server, "write_file"), "Write a text into a file that need not exist", "path", "text"))
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(tools), func(i, j int) { tools[i], tools[j] = tools[j], tools[i] })
	got := families(t, tools)
	if len(got) != 2 || len(got[0]) != 1000 || len(got[1]) != 1000 {
		t.Errorf("%d families", len(got))
	}
}

// TestRealTwins holds the rule against real servers: what two versions of one server have in common is found, and no
// tool of another service is taken for a copy.
func TestRealTwins(t *testing.T) {
	var tools []*tool.Tool
	for _, s := range readAll(t, realFiles(t)) {
		list, err := s.Tools(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range list {
			one.Server = s.Name()
			tools = append(tools, one)
		}
	}
	got := families(t, tools)
	if len(got) < 12 || len(got) > 26 {
		t.Errorf("%d tools are offered by several servers", len(got))
	}
	for _, ids := range got {
		for _, id := range ids[1:] {
			if service, _, _ := strings.Cut(id.Server(), "-"); !strings.HasPrefix(ids[0].Server(), service) {
				t.Errorf("%s is taken for %s", id, ids[0])
			}
		}
	}
}
