package sources

import (
	"testing"

	"tooldex/tool"
)

// borrowed reads a file and returns which of its tools borrow, by ID.
func borrowed(t *testing.T, content string) map[tool.ID]bool {
	t.Helper()
	c, err := Parse("f.yaml", []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	out := map[tool.ID]bool{}
	for _, one := range all(t, c) {
		out[one.ID()] = !one.NoBorrow
	}
	return out
}

func TestBorrowInFiles(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		want    map[tool.ID]bool
	}{
		"nothing said": {"tools: [{name: x}]", map[tool.ID]bool{"f/x": true}},
		"a tool":       {"tools: [{name: x, borrow: false}, {name: y}]", map[tool.ID]bool{"f/x": false, "f/y": true}},
		"the top": {
			"borrow: false\ntools: [{name: x}, {name: y, borrow: true}]",
			map[tool.ID]bool{"f/x": false, "f/y": true},
		},
		"behind them": {"tools: [{name: x}]\nborrow: false", map[tool.ID]bool{"f/x": false}},
		"a server":    {"tools: [{name: x}]\nservers: [{name: s, borrow: false, tools: [{name: y}, {name: z, borrow: true}]}]", map[tool.ID]bool{"f/x": true, "s/y": false, "s/z": true}},
		"and its tools": {
			"tools: [{server: s, name: x}]\nservers: [{name: s, borrow: false}]",
			map[tool.ID]bool{"s/x": false},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if d := diff(c.want, borrowed(t, c.content)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}
