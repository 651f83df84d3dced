package scan

import (
	"bufio"
	"encoding/json"
	"hash/fnv"
	"os"
	"path/filepath"
	"testing"

	"tooldex/tool"
)

// labelled is one line of the labelled sets.
type labelled struct {
	ID          string                     `json:"id"`
	Label       string                     `json:"label"` // attack or benign
	Family      string                     `json:"family"`
	Server      string                     `json:"server"`
	Name        string                     `json:"name"`
	Title       string                     `json:"title"`
	Description string                     `json:"description"`
	Parameters  map[string]json.RawMessage `json:"parameters"`
	Required    []string                   `json:"required"`
	Schema      json.RawMessage            `json:"schema"` // in place of what Parameters make
	Output      json.RawMessage            `json:"outputSchema"`
	Meta        json.RawMessage            `json:"meta"`
	Annotations *tool.Annotations          `json:"annotations"`
	Siblings    []string                   `json:"siblings"` // further tools of the same server
	Beside      []*tool.Tool               `json:"beside"`   // and of others
	// what of it was different before: then the change is judged
	Was json.RawMessage `json:"was"`
}

func readLabelled(t testing.TB, name string) []labelled {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []labelled
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var l labelled
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out = append(out, l)
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	return out
}

func (l labelled) tool(t testing.TB) *tool.Tool {
	t.Helper()
	out := &tool.Tool{
		Server: l.Server, Name: l.Name, Title: l.Title, Description: l.Description,
		Annotations: l.Annotations, OutputSchema: l.Output, Meta: l.Meta, InputSchema: l.Schema,
	}
	if out.InputSchema == nil {
		schema := map[string]any{"type": "object", "properties": l.Parameters}
		if l.Required != nil {
			schema["required"] = l.Required
		}
		b, err := json.Marshal(schema)
		if err != nil {
			t.Fatal(err)
		}
		out.InputSchema = b
	}
	return out
}

// half tells the half of a labelled set that rules were written by from the one that they were only measured on.
func (l labelled) half() string {
	h := fnv.New32a()
	h.Write([]byte(l.ID + l.Name))
	if h.Sum32()%2 == 0 {
		return "tuned"
	}
	return "checked"
}

// town is the catalogue beside which the labelled tools stand.
func town(siblings ...*tool.Tool) []*tool.Tool {
	out := siblings
	for server, names := range map[string][]string{
		"github": {
			"create_issue", "create_pull_request", "search_repositories", "get_file_contents",
			"merge_pull_request",
		}, "gmail": {"send_email", "search_emails", "read_email"},
		"filesystem": {"read_file", "write_file", "list_directory", "delete_file"},
		"slack":      {"post_message", "list_channels"}, "postgres": {"query", "list_tables"},
		"payments": {"create_payment", "refund_payment"}, "shell": {"run_command"},
		"calendar": {"create_event", "list_events"},
	} {
		for _, n := range names {
			out = append(out, &tool.Tool{Server: server, Name: n})
		}
	}
	return out
}

// judge returns what is found in a labelled tool, or in its change.
func (l labelled) judge(t testing.TB) []Finding {
	t.Helper()
	now := l.tool(t)
	own := []*tool.Tool{now}
	for _, s := range l.Siblings {
		own = append(own, &tool.Tool{Server: l.Server, Name: s})
	}
	s := New(town(append(own, l.Beside...)...))
	found := s.Tool(now)
	if l.Was == nil {
		return found
	}
	before := l
	before.Annotations, before.Required = nil, nil
	if err := json.Unmarshal(l.Was, &before); err != nil {
		t.Fatal(err)
	}
	var names struct {
		Parameters map[string]json.RawMessage `json:"parameters"`
	}
	if err := json.Unmarshal(l.Was, &names); err != nil {
		t.Fatal(err)
	}
	if names.Parameters != nil {
		before.Parameters = names.Parameters
	}
	was := before.tool(t)
	return Worse(was, now, s.Tool(was), found)
}
