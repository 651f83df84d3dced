package storetest

import (
	"encoding/json"
	"fmt"
	"time"

	"tooldex/store"
	"tooldex/tool"
)

// Record returns a record all of whose fields are set, different for each n. Its JSON has blanks, escapes and numbers
// that a backend may not change.
func Record(n int) store.Record {
	yes, no := true, false
	t := &tool.Tool{
		Server: "files", Name: fmt.Sprintf("read_%04d", n), Title: "Read", Summary: "Read a file",
		Description: fmt.Sprintf("Read file number %d.\n\nWith <tags> & \"quotes\" and 漢字.", n), Category: "disk",
		Keywords: []string{"file", ""}, Synonyms: []string{"cat"},
		Examples: []tool.Example{{
			Description: "one", Invocation: json.RawMessage(`{ "path":  "/a<b>" }`), Output: "text",
		}, {}},
		Utterances:   []tool.Utterance{{Text: "show me the file", From: tool.Learned}, {Text: "open it"}},
		InputSchema:  json.RawMessage("{ \"type\" : \"object\",\n\t\"a<b>&\": 1.0e2, \"nul\": \"\\u0000\", \"big\": 123456789012345678901234567890 }"),
		OutputSchema: json.RawMessage(`{"type":"object"} `),
		Annotations:  &tool.Annotations{Title: "T", ReadOnlyHint: &yes, DestructiveHint: &no},
		Meta:         json.RawMessage(`{"k": [1, 2]}`), Icons: json.RawMessage(`[]`),
		Related: []tool.ID{"files/write"}, Disabled: n%2 == 0, Deprecated: "use other", Always: n%3 == 0,
	}
	at := time.Date(2026, 11, 5, 10, 0, 0, n%1000*1e6, time.UTC)
	return store.Record{Tool: t, Source: "files", Hash: t.Hash(), First: at, Changed: at.Add(time.Hour)}
}

// Records returns the records of the numbers from from up to, but without, to.
func Records(from, to int) []store.Record {
	var out []store.Record
	for n := from; n < to; n++ {
		out = append(out, Record(n))
	}
	return out
}
