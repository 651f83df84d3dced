package sanitize

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"tooldex/tool"
)

func TestCleanTexts(t *testing.T) {
	for name, c := range map[string]struct {
		in, want string
		finding  string // part of it; "" means none
	}{
		"plain":              {"Reads a file.\n\n\tIndented.", "Reads a file.\n\n\tIndented.", ""},
		"other scripts":      {"Читает 文件 يقرأ ملف", "Читает 文件 يقرأ ملف", ""},
		"joiner of a script": {"می\u200cخواهم 👩\u200d💻", "می\u200cخواهم 👩\u200d💻", ""},
		"windows line ends":  {"one\r\ntwo\rthree", "one\ntwo\nthree", ""},
		"control characters": {"a\x00b\x1b[31mc\x7f\u0085", "ab[31mc", "removed 4"},
		"direction override": {"safe \u202etxt.exe\u202c", "safe txt.exe", "removed 2"},
		"isolates":           {"\u2066a\u2069", "a", "removed 2"},
		"tags smuggle text":  {"hi\U000e0041\U000e0042", "hi", "removed 2"},
		"zero width":         {"a\u200bb\ufeffc", "abc", "removed 2"},
		"not UTF-8":          {"a\xffb", "a\uFFFDb", "not UTF-8"},
		"longer than the most": {
			strings.Repeat("é", MaxDescription), strings.Repeat("é", MaxDescription/2),
			"has 131072 bytes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			one := &tool.Tool{Server: "s", Name: "n", Description: c.in, InputSchema: json.RawMessage(`{}`)}
			found, err := Tool(one)
			if err != nil {
				t.Fatal(err)
			}
			if one.Description != c.want {
				t.Errorf("got %.80q, want %.80q", one.Description, c.want)
			}
			if (c.finding == "") != (len(found) == 0) || c.finding != "" &&
				!strings.Contains(found[0].String(), c.finding) {
				t.Errorf("findings %v, want %q", found, c.finding)
			}
			if again, err := Tool(one); err != nil || len(again) != 0 {
				t.Errorf("cleaning again finds %v, %v", again, err)
			}
		})
	}
}

func TestCleanSchemas(t *testing.T) {
	const object = `{"type":"object"}`
	big := `{"x":"` + strings.Repeat("x", MaxSchema) + `"}`
	for name, c := range map[string]struct {
		in, want, finding string
	}{
		"kept byte for byte": {
			" { \"type\" : \"object\",\n\"a<>&\":1.0E2 } ",
			" { \"type\" : \"object\",\n\"a<>&\":1.0E2 } ", "",
		},
		"missing":          {"", object, "is missing"},
		"null":             {"null", object, "is missing"},
		"a list":           {"[1]", object, "not a JSON object"},
		"true":             {"true", object, "not a JSON object"},
		"text":             {`"{}"`, object, "not a JSON object"},
		"malformed":        {`{"type":`, object, "not a JSON object"},
		"two values":       {`{} {}`, object, "not a JSON object"},
		"refers to itself": {`{"$ref":"#"}`, `{"$ref":"#"}`, ""},
		"references in a circle": {
			`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`,
			`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, "",
		},
		"too large":             {big, object, "bytes"},
		"not UTF-8":             {"{\"a\":\"\xff\"}", "{\"a\":\"\uFFFD\"}", "not UTF-8"},
		"hides text":            {"{\"description\":\"\u202e\"}", "{\"description\":\"\u202e\"}", "kept byte for byte"},
		"hides text, escaped":   {`{"description":"\u202E"}`, `{"description":"\u202E"}`, "kept byte for byte"},
		"escapes that are fine": {`{"description":"\u00e9 \\u202"}`, `{"description":"\u00e9 \\u202"}`, ""},
		"escape is cut off":     {`{"description":"\u20"}`, object, "not a JSON object"},
		"nested as deep as it is": {
			strings.Repeat(`{"items":`, 5000) + "{}" + strings.Repeat("}", 5000),
			strings.Repeat(`{"items":`, 5000) + "{}" + strings.Repeat("}", 5000), "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			one := &tool.Tool{Server: "s", Name: "n", Description: "d", InputSchema: json.RawMessage(c.in)}
			found, err := Tool(one)
			if err != nil {
				t.Fatal(err)
			}
			if string(one.InputSchema) != c.want {
				t.Errorf("got %.80q, want %.80q", one.InputSchema, c.want)
			}
			if (c.finding == "") != (len(found) == 0) || c.finding != "" &&
				!strings.Contains(found[0].String(), c.finding) {
				t.Errorf("findings %v, want %q", found, c.finding)
			}
			// Whatever a schema says, nothing that reads it hangs.
			done := make(chan string, 1)
			go func() { done <- one.Signature() }()
			select {
			case <-done:
			case <-time.After(time.Minute):
				t.Fatal("reading the schema does not end")
			}
		})
	}
}

func TestCleanRest(t *testing.T) {
	one := &tool.Tool{
		Server: "s", Name: "n", Title: "  A\n title ", Description: "First sentence. Second.",
		Keywords: []string{"a\x00", " ", "b"}, Synonyms: []string{}, Examples: []tool.Example{{
			Description: "x",
			Invocation:  json.RawMessage(`[1]`),
		}, {Invocation: json.RawMessage(`{"a": 1}`)}},
		Utterances: []tool.Utterance{{Text: "\u200b"}, {Text: "find it"}}, Related: []tool.ID{},
		InputSchema:  json.RawMessage(`{}`),
		OutputSchema: json.RawMessage(`"no"`), Meta: json.RawMessage(`{`), Icons: json.RawMessage(`"` +
			strings.Repeat("x", maxExtra) + `"`),
		Annotations: &tool.Annotations{Title: "T\u202e"},
	}
	keywords := one.Keywords
	found, err := Tool(one)
	if err != nil {
		t.Fatal(err)
	}
	want := &tool.Tool{
		Server: "s", Name: "n", Title: "A title", Summary: "First sentence", Description: "First sentence. Second.",
		Keywords:    []string{"a", "b"},
		Examples:    []tool.Example{{Description: "x"}, {Invocation: json.RawMessage(`{"a": 1}`)}},
		Utterances:  []tool.Utterance{{Text: "find it"}},
		InputSchema: json.RawMessage(`{}`), Annotations: &tool.Annotations{Title: "T"},
	}
	if d := cmp.Diff(want, one); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if keywords[0] != "a\x00" {
		t.Error("the caller's slice was written to")
	}
	fields := map[string]bool{}
	for _, f := range found {
		fields[f.Field] = true
	}
	for _, f := range []string{
		"keywords", "examples", "utterances", "outputSchema", "_meta", "icons",
		"annotations.title",
	} {
		if !fields[f] {
			t.Errorf("nothing is told about %s: %v", f, found)
		}
	}
}

func TestCleanNames(t *testing.T) {
	for name, c := range map[string]struct {
		in      string
		refused string
		finding bool
	}{
		"plain":           {"create_issue-2", "", false},
		"spaces":          {"create issue", "", true},
		"dots":            {"issues.create", "", true},
		"other script":    {"创建问题", "", true},
		"200 characters":  {strings.Repeat("x", 200), "", true},
		"none":            {"", "no name", false},
		"too long":        {strings.Repeat("x", MaxName+1), "1025 bytes", false},
		"control":         {"a\nb", "control", false},
		"override":        {"a\u202eb", "invisible", false},
		"not UTF-8":       {"a\xff", "UTF-8", false},
		"slash":           {"repos/get", "", true},
		"exactly longest": {strings.Repeat("x", 64), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			one := &tool.Tool{Server: "s", Name: c.in, InputSchema: json.RawMessage(`{}`)}
			found, err := Tool(one)
			if c.refused != "" {
				if tool.CodeOf(err) != tool.Invalid || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("error %v, want %q", err, c.refused)
				}
				return
			}
			if err != nil || one.Name != c.in || (len(found) > 0) != c.finding {
				t.Errorf("name %q, findings %v, %v; want it kept and a finding: %v", one.Name, found, err, c.finding)
			}
			if got := tool.ExposedNames([]*tool.Tool{one}, tool.DefaultTemplate)[0]; !regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`).MatchString(got) {
				t.Errorf("exposed as %q", got)
			}
		})
	}
}

func TestCleanSummary(t *testing.T) {
	one := &tool.Tool{Server: "s", Name: "n", Summary: strings.Repeat("é", MaxSummary), InputSchema: json.RawMessage(`{}`)}
	if _, err := Tool(one); err != nil {
		t.Errorf("a summary of %d characters: %v", MaxSummary, err)
	}
	one.Summary += "x"
	if _, err := Tool(one); tool.CodeOf(err) != tool.Invalid || !strings.Contains(err.Error(), "81 characters") {
		t.Errorf("error %v, want the summary refused", err)
	}
	one = &tool.Tool{Server: "s", Name: "n", Title: "Only a title", InputSchema: json.RawMessage(`{}`)}
	if _, err := Tool(one); err != nil || one.Summary != "Only a title" {
		t.Errorf("summary %q, %v", one.Summary, err)
	}
}

func FuzzClean(f *testing.F) {
	f.Add("name", "description", `{"type":"object"}`, `{"a":1}`)
	f.Add("a b", "\u202e\x00\xff", `{"$ref":"#"}`, "")
	f.Add("x", strings.Repeat("é", 100), `{"description":"\u202`, "[]")
	f.Fuzz(func(t *testing.T, name, description, schema, example string) {
		one := &tool.Tool{
			Server: "s", Name: name, Description: description, Keywords: []string{description},
			InputSchema:  json.RawMessage(schema),
			OutputSchema: json.RawMessage(example), Examples: []tool.Example{{
				Description: description,
				Invocation:  json.RawMessage(example),
			}},
		}
		if _, err := Tool(one); err != nil {
			return
		}
		if !json.Valid(one.InputSchema) || one.OutputSchema != nil && !json.Valid(one.OutputSchema) {
			t.Error("a schema that is no JSON was let through")
		}
		if !utf8.ValidString(one.Description) || strings.ContainsFunc(one.Description, isHidden) ||
			CheckSummary(one.ID(), one.Summary) != nil {
			t.Errorf("description %q, summary %q", one.Description, one.Summary)
		}
		hash := one.Hash()
		if found, err := Tool(one); err != nil || one.Hash() != hash {
			t.Errorf("cleaning again changes it: %v, %v", found, err)
		}
		_ = one.Signature()
	})
}
