package knowledge_test

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"tooldex/catalog"
	"tooldex/embed"
	"tooldex/knowledge"
	"tooldex/tool"
)

// maxBase is how large the compiled knowledge may be, out of the 50 MB of the binary.
const maxBase = 14 << 20

func TestBuiltinSize(t *testing.T) {
	info, err := os.Stat("base.bin")
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxBase {
		t.Errorf("base.bin has %d bytes, at most %d are allowed", info.Size(), maxBase)
	}
	b, err := knowledge.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	if b.Len() < 10_000 {
		t.Errorf("%d archetypes", b.Len())
	}
	if again, err := knowledge.Builtin(); err != nil || again != b {
		t.Error("each call gives another base")
	}
}

// TestOpenIsCheap opens the real base: a start of the program must not wait for what it may never need.
func TestOpenIsCheap(t *testing.T) {
	data, err := os.ReadFile("base.bin")
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b, err := knowledge.Open(data)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<10 {
		t.Errorf("opening %d archetypes allocates %d bytes", b.Len(), n)
	}
	if n := testing.AllocsPerRun(20, func() { _, _ = knowledge.Open(data) }); n > 40 {
		t.Errorf("opening makes %v allocations", n)
	}
}

func encoder(t testing.TB) knowledge.Encoder {
	t.Helper()
	static, err := embed.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return catalog.Encoder(static)
}

// TestBuiltinFitsModel fails when the table was trained anew and the knowledge not compiled with it.
func TestBuiltinFitsModel(t *testing.T) {
	b, err := knowledge.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	if f := encoder(t).Fingerprint; !strings.HasSuffix(b.Version(), "-"+f) {
		t.Errorf("the base is of version %s, the model is %s: run make knowledge", b.Version(), f)
	}
}

// TestBuiltinIsWhole reads archetypes of every block.
func TestBuiltinIsWhole(t *testing.T) {
	b, err := knowledge.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	last := ""
	for i := 0; i < b.Len(); i += 37 {
		h, err := b.Head(i)
		if err != nil {
			t.Fatal(err)
		}
		if h.Server == "" || h.Name == "" || len(h.Utterances) == 0 || h.Server+"\x00"+h.Name <= last {
			t.Errorf("archetype %d is incomplete or out of order: %+v", i, h)
		}
		last = h.Server + "\x00" + h.Name
	}
}

// TestBuiltinLends puts tools in other words than any archetype's beside what must be lent to them.
func TestBuiltinLends(t *testing.T) {
	b, err := knowledge.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	tools := []*tool.Tool{
		{Server: "gh", Name: "issue_write", Description: "Create a new issue in a GitHub repository."},
		{Server: "fs", Name: "read_text_file", Description: "Read the complete contents of a file from the file system as text."},
		{Server: "post", Name: "mail_out", Description: "Sends an email to one or more recipients."},
		{Server: "meteo", Name: "forecast", Description: "Weather forecast for a city for the next days."},
	}
	loans, err := b.Lender(encoder(t)).Lend(t.Context(), texts(tools), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"bug", "file", "email", "rain"} {
		has := false
		for _, term := range loans[i].Terms {
			has = has || term.Text == want
		}
		if !has || len(loans[i].From) == 0 {
			t.Errorf("%s is not lent %q: %v", tools[i].ID(), want, loans[i].Terms)
		}
	}
}

func texts(tools []*tool.Tool) []embed.Document {
	out := make([]embed.Document, len(tools))
	for i, t := range tools {
		out[i] = knowledge.ToolText(t)
	}
	return out
}

func BenchmarkOpen(b *testing.B) {
	data, err := os.ReadFile("base.bin")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := knowledge.Open(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNearest(b *testing.B) {
	base, err := knowledge.Builtin()
	if err != nil {
		b.Fatal(err)
	}
	enc := encoder(b)
	v := make([]float32, enc.Dims)
	const text = "file a bug report about the login page"
	enc.Query(text, v)
	terms := knowledge.Terms(text)
	var s knowledge.Scratch
	b.ReportAllocs()
	for b.Loop() {
		base.Nearest(terms, v, 10, &s)
	}
}

func BenchmarkTranslate(b *testing.B) {
	base, err := knowledge.Builtin()
	if err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string]string{
		"english": "file a bug report about the login page",
		"german":  "erstelle ein neues Ticket für den Fehler", "chinese": "创建一个新的代码仓库",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				base.Translate(text)
			}
		})
	}
}

func BenchmarkLend(b *testing.B) {
	base, err := knowledge.Builtin()
	if err != nil {
		b.Fatal(err)
	}
	enc := encoder(b)
	tools := make([]*tool.Tool, 100)
	for i := range tools {
		h, err := base.Head(i * 97 % base.Len())
		if err != nil {
			b.Fatal(err)
		}
		tools[i] = &tool.Tool{Server: h.Server, Name: h.Name, Description: strings.Join(h.Utterances, ". ")}
	}
	lender := base.Lender(enc)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := lender.Lend(b.Context(), texts(tools), nil); err != nil {
			b.Fatal(err)
		}
	}
}
