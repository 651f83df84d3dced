package audit

import (
	"context"
	"encoding/json"
	"testing"

	"tooldex/tool"
)

func BenchmarkCall(b *testing.B) {
	args := json.RawMessage(`{"owner":"acme","repo":"site","title":"The page does not load","labels":["bug","web"],"number":17}`)
	c := tool.Call{ID: "github/create_issue", Arguments: args, Who: tool.Asker{
		Client: "editor", Version: "1.2.3",
		Via: "http", Session: "0123456789abcdef",
	}}
	for name, o := range map[string]Options{
		"written": {Sync: Never}, "synced soon": {Sync: Soon}, "synced each": {Sync: Each},
		"with arguments": {Sync: Soon, Arguments: true},
		"required":       {Sync: Soon, Required: true},
	} {
		b.Run(name, func(b *testing.B) {
			o.Dir = b.TempDir()
			o.Catalog = some{{Server: "github", Name: "create_issue"}}
			set := o.Catalog.Set()
			o.Catalog = fixed{set}
			l := closing(b, New(o))
			caller := l.Caller(answering{})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := caller.Call(context.Background(), c); err != nil || l.Err() != nil {
					b.Fatal(err, l.Err())
				}
			}
		})
	}
}

type fixed struct{ set *tool.Set }

func (f fixed) Set() *tool.Set { return f.set }

func BenchmarkVerify(b *testing.B) {
	dir := b.TempDir()
	l := New(Options{Dir: dir, Sync: Never})
	fill(b, l, 10_000)
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for b.Loop() {
		verified(b, dir)
	}
}
