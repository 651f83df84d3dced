package mcpsrv

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/internal/orderedjson"
	"tooldex/tool"
	"tooldex/upstream"
)

// bare is servers that have nothing beside their tools.
type bare struct{}

func (bare) Features() []upstream.Features { return nil }

func (bare) Forward(context.Context, upstream.Request) (json.RawMessage, error) {
	return nil, &tool.Error{Code: tool.NotFound, Op: "forward", Msg: "there is no server"}
}

// linkOf returns the link in a result, nil for none.
func linkOf(res *mcp.CallToolResult) *mcp.ResourceLink {
	for _, c := range res.Content {
		if link, ok := c.(*mcp.ResourceLink); ok {
			return link
		}
	}
	return nil
}

// TestRestOfResult reads what was left out of results by the link that they have, in revisions that have links.
func TestRestOfResult(t *testing.T) {
	long := strings.Repeat("größe ", 3000)
	picture := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x01\x02\x03", 1<<20))) // 4 MiB
	image := `{"type":"image","mimeType":"image/png","data":"` + picture + `"}`
	file := `{"uri":"file:///a.txt","mimeType":"text/plain","text":` + string(orderedjson.Encode(long)) + `}`
	for name, tt := range map[string]struct {
		raw  string
		want []string // the media types of what is left out, and its beginning
	}{
		"text": {
			`{"content":[{"type":"text","text":` + string(orderedjson.Encode(long)) + `}]}`,
			[]string{"text/plain größe größe"},
		},
		"pictures": {
			`{"content":[` + strings.Join(slices.Repeat([]string{image}, 3), ",") + `]}`,
			[]string{"image/png AQID", "image/png AQID"},
		},
		"a file": {
			`{"content":[{"type":"text","text":"see"},{"type":"resource","resource":` + file + `}]}`,
			[]string{"text/plain größe größe"},
		},
		"structured content beside text": {
			`{"content":[{"type":"text","text":"done"}],"structuredContent":{"type":"x","data":` +
				string(orderedjson.Encode(long)) + `}}`,
			[]string{`application/json {"type":"x","data":"größe`},
		},
		"all": {
			`{"content":[{"type":"text","text":` + string(orderedjson.Encode(long)) + `},` + strings.Join(slices.Repeat([]string{image}, 2), ",") +
				`],"structuredContent":{"a":` + string(orderedjson.Encode(long)) + `}}`,
			[]string{"text/plain größe größe", "image/png AQID", `application/json {"a":"größe`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, smallServer(t), Options{MaxResult: 500, Upstreams: bare{}})
			f.answer = func(context.Context, tool.Call) (*tool.CallResult, error) {
				return &tool.CallResult{Raw: json.RawMessage(tt.raw)}, nil
			}
			revisions := map[string]bool{"": true} // whether they have links
			if name == "text" {
				revisions = map[string]bool{"2025-03-26": false, "2025-06-18": true, "2025-11-25": true, "": true}
			}
			for revision, linked := range revisions {
				session := f.connect(t, revision, nil)
				res, err := session.CallTool(t.Context(), &mcp.CallToolParams{
					Name: invokeName, Arguments: map[string]any{"name": "file_info", "arguments": map[string]any{"path": "a"}},
				})
				if err != nil {
					t.Fatal(err)
				}
				link := linkOf(res)
				if (link != nil) != linked {
					t.Fatalf("revision %q: link %+v", revision, link)
				}
				if !linked {
					continue
				}
				rest, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: link.URI})
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for i, c := range rest.Contents {
					text := c.Text
					if c.Blob != nil {
						text = base64.StdEncoding.EncodeToString(c.Blob)
					}
					want := tt.want[min(i, len(tt.want)-1)]
					_, begin, _ := strings.Cut(want, " ")
					got = append(got, c.MIMEType+" "+text[:min(len(begin), len(text))])
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if name == "text" {
					if whole := text(res)[:strings.Index(text(res), "\n[Cut")] + rest.Contents[0].Text; whole != long {
						t.Errorf("head and rest are %d bytes of %d", len(whole), len(long))
					}
					if *link.Size != int64(len(rest.Contents[0].Text)) {
						t.Errorf("the link says %d bytes, there are %d", *link.Size, len(rest.Contents[0].Text))
					}
				}
			}
		})
	}
	t.Run("of somebody else, and of none", func(t *testing.T) {
		f := newFixture(t, smallServer(t), Options{MaxResult: 500, Upstreams: bare{}})
		f.kept.keep(&keptResult{id: "x", owner: "another", text: "secret"})
		for _, uri := range []string{resultPrefix + "x", resultPrefix + "y", resultPrefix} {
			if _, err := f.connect(t, "", nil).ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil ||
				!strings.Contains(err.Error(), "not found") {
				t.Errorf("%s: %v", uri, err)
			}
		}
	})
}

// TestStructuredIsBounded calls a tool by its own name, so that the client relies on its output schema: the structured
// content is shortened within the schema, or the result is an error that says so. The whole can be read on.
func TestStructuredIsBounded(t *testing.T) {
	rows := make([]map[string]any, 2000)
	for i := range rows {
		rows[i] = map[string]any{"id": i, "name": strings.Repeat("größe ", 20)}
	}
	value := orderedjson.Encode(map[string]any{"rows": rows, "total": len(rows), "note": "all"})
	for name, tt := range map[string]struct {
		schema string
		failed bool
	}{
		"lists may end early": {`{"type":"object","properties":{"rows":{"type":"array","items":{"type":"object","required":["id","name"]}},"total":{"type":"integer"}},"required":["rows","total","note"]}`, false},
		"lists may not":       {`{"type":"object","properties":{"rows":{"type":"array","minItems":2000}},"required":["rows"]}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			tools := smallServer(t)
			i := slices.IndexFunc(tools, func(one *tool.Tool) bool { return one.Name == "file_info" })
			tools[i].OutputSchema = json.RawMessage(tt.schema)
			f := newFixture(t, tools, Options{MaxResult: 500, Upstreams: bare{}})
			f.answer = func(context.Context, tool.Call) (*tool.CallResult, error) {
				return &tool.CallResult{Raw: object{
					{Key: "content", Value: joinArray([]json.RawMessage{textPart("2000 rows")})}, {Key: "structuredContent", Value: value},
				}.Bytes()}, nil
			}
			session := f.connect(t, "", nil)
			res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "file_info", Arguments: map[string]any{"path": "a"}})
			if err != nil || res.IsError != tt.failed || (res.StructuredContent == nil) != tt.failed {
				t.Fatalf("%v, %+v", err, res)
			}
			if raw := orderedjson.Encode(res.StructuredContent); !tt.failed && (len(raw) > 2000 || len(raw) < 1000) {
				t.Errorf("it has %d bytes: %s", len(raw), raw)
			}
			rest, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: linkOf(res).URI})
			if err != nil || rest.Contents[0].Text != string(value) {
				t.Errorf("%v, the whole is %+v", err, rest)
			}
			id := strings.TrimPrefix(linkOf(res).URI, resultPrefix)
			part, failed := ask(t, session, readResultName, fmt.Sprintf(`{"id":%q,"part":1}`, id))
			if failed || len(part) > 2400 || !strings.HasPrefix(string(value), part[:1000]) {
				t.Errorf("read_result: %d bytes, %.300s", len(part), part)
			}
			part, failed = ask(t, session, readResultName, fmt.Sprintf(`{"id":%q,"part":1,"offset":%d}`, id, len(value)-10))
			if failed || part != string(value[len(value)-10:]) {
				t.Errorf("its end is %s", part)
			}
		})
	}
}

// TestShorten shortens values to 40 bytes, and no more than they need.
func TestShorten(t *testing.T) {
	text := func(n int) string { return `"` + strings.Repeat("a", n) + `"` }
	for name, tt := range map[string]struct {
		raw         string
		least, most int // bytes
	}{
		"within":          {`{"a":1}`, 7, 7},
		"a text":          {text(90), 35, 42},
		"escapes":         {`"` + strings.Repeat(`\n`, 90) + `"`, 20, 42},
		"a text of runes": {`"` + strings.Repeat("ö", 60) + `"`, 20, 42},
		"a list":          {`[` + strings.Repeat("1111,", 20) + `2]`, 35, 40},
		"one long item":   {`[` + text(90) + `,1]`, 20, 42},
		"members":         {`{"a":` + text(60) + `,"b":7,"c":` + text(60) + `}`, 25, 44},
		"an empty list":   {`{"a":[],"b":` + text(60) + `}`, 25, 44},
		"lists in lists":  {`[[` + text(90) + `],[1]]`, 20, 42},
		"a number":        {strings.Repeat("1", 90), 90, 90},
	} {
		got := shorten(json.RawMessage(tt.raw), 40)
		if !json.Valid(got) || len(got) < tt.least || len(got) > tt.most {
			t.Errorf("%s: %d bytes: %s", name, len(got), got)
		}
		if orderedjson.Kind(got) != orderedjson.Kind(json.RawMessage(tt.raw)) {
			t.Errorf("%s becomes %s", name, got)
		}
	}
}

func FuzzShorten(f *testing.F) {
	f.Add([]byte(`{"a":["x",{"b":"yyyyyyyyyyyyyyy"}],"c":1}`), 10)
	f.Fuzz(func(t *testing.T, raw []byte, most int) {
		if json.Valid(raw) && !json.Valid(shorten(raw, most)) {
			t.Errorf("%s becomes %s", raw, shorten(raw, most))
		}
	})
}
