package catalog

import (
	"math"
	"testing"

	"tooldex/embed"
	"tooldex/knowledge"
	"tooldex/tool"
)

// TestHashText changes each thing about a tool: what is embedded changes the hash of the text, the rest does not.
func TestHashText(t *testing.T) {
	base := func() *tool.Tool {
		return &tool.Tool{
			Server: "forge", Name: "create_issue", Title: "New issue", Description: "Opens a ticket.",
			InputSchema: []byte(`{"type":"object","properties":{"title":{"type":"string","description":"one line"}}}`),
		}
	}
	first := hashText(textOfTool(base()))
	for name, c := range map[string]struct {
		change  func(x *tool.Tool)
		differs bool
	}{
		"nothing":     {func(*tool.Tool) {}, false},
		"server":      {func(x *tool.Tool) { x.Server = "other" }, true},
		"name":        {func(x *tool.Tool) { x.Name = "new_issue" }, true},
		"title":       {func(x *tool.Tool) { x.Title = "Create" }, true},
		"description": {func(x *tool.Tool) { x.Description = "Opens a card." }, true},
		"parameter": {
			func(x *tool.Tool) { x.InputSchema = []byte(`{"type":"object","properties":{"name":{}}}`) },
			true,
		},
		"text of parameter": {func(x *tool.Tool) {
			x.InputSchema = []byte(`{"type":"object","properties":{"title":{"type":"string","description":"some"}}}`)
		}, true},
		"category":          {func(x *tool.Tool) { x.Category = "c" }, false},
		"synonyms":          {func(x *tool.Tool) { x.Synonyms = []string{"s"} }, false},
		"annotations":       {func(x *tool.Tool) { x.Annotations = new(tool.Annotations) }, false},
		"disabled":          {func(x *tool.Tool) { x.Disabled = true }, false},
		"space in a schema": {func(x *tool.Tool) { x.InputSchema = append([]byte(" "), x.InputSchema...) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			x := base()
			c.change(x)
			if got := hashText(textOfTool(x)) != first; got != c.differs {
				t.Errorf("the hash differs: %v, want %v", got, c.differs)
			}
		})
	}
}

func TestMix(t *testing.T) {
	length := func(v []float32) float64 {
		var sum float64
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		return math.Sqrt(sum)
	}
	for name, c := range map[string]struct {
		own, lent []float32
		check     func(v []float32) bool
	}{
		"between the two, never nearer to lent": {
			[]float32{1, 0},
			[]float32{0, 1},
			func(v []float32) bool { return v[0] >= v[1] && v[1] > 0 },
		},
		"lent with doubt": {
			[]float32{1, 0},
			[]float32{0, .5},
			func(v []float32) bool { return v[0] > v[1] && v[1] > 0 },
		},
		"nothing lent": {[]float32{0, 2}, nil, func(v []float32) bool {
			return v[0] == 0 && v[1] == 1
		}},
		"lent by a model of another width": {
			[]float32{1, 0},
			[]float32{0, 1, 0},
			func(v []float32) bool { return v[0] == 1 && v[1] == 0 },
		},
		"the same": {
			[]float32{.6, .8},
			[]float32{.6, .8},
			func(v []float32) bool { return math.Abs(float64(v[0])-.6) < 1e-6 },
		},
		"nothing of its own, but what is lent": {
			[]float32{0, 0},
			[]float32{0, 1},
			func(v []float32) bool { return v[1] == 1 },
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := mixVectors(c.own, c.lent)
			if math.Abs(length(v)-1) > 1e-6 || !c.check(v) {
				t.Errorf("got %v of length %v", v, length(v))
			}
		})
	}
	if v := mixVectors([]float32{0, 0}, nil); v[0] != 0 || v[1] != 0 {
		t.Errorf("nothing at all gives %v", v)
	}
}

func textOfTool(t *tool.Tool) *embed.Document {
	texts := knowledge.ToolText(t)
	return &texts
}
