package embed

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "write golden files anew")

func builtinTable(t testing.TB) *Static {
	t.Helper()
	s, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBuiltinIsWhole(t *testing.T) {
	s := builtinTable(t)
	if err := s.Verify(); err != nil {
		t.Error(err)
	}
	if m := s.Model(); m.Dims != Dims || m.Name == "" || len(m.Fingerprint) != 32 {
		t.Errorf("model %+v", m)
	}
	again, err := Builtin()
	if err != nil || again != s {
		t.Error("each call gives another table")
	}
}

// A golden vector is too long to review, so a few components and how alike the texts are stand for it.
type golden struct {
	Fingerprint string
	Queries     map[string][]float32 // the first eight components
	Likeness    map[string]float32   // of pairs, query | document
}

func TestGoldenVectors(t *testing.T) {
	s := builtinTable(t)
	path := filepath.Join("testdata", "golden.json")
	texts := []string{
		"open a ticket", "send an email to the whole team", "Wie wird das Wetter morgen?",
		"создай задачу", "创建一个仓库", "listPullRequests", "k8s pods", "zyxglorp", "3",
	}
	docs := []Document{
		{"create_issue github", "Creates a new issue in a repository.", "title body labels"},
		{"send_message gmail", "Sends an email message to one or more recipients.", "to subject body"},
		{"get_forecast weather", "Returns the weather forecast for a place.", "city days"},
	}
	got := golden{s.Model().Fingerprint, map[string][]float32{}, map[string]float32{}}
	for _, text := range texts {
		v, d := make([]float32, Dims), make([]float32, Dims)
		s.Query(text, v)
		got.Queries[text] = v[:8]
		for _, doc := range docs {
			s.Document(doc, d)
			sum := float32(0)
			for i := range v {
				sum += v[i] * d[i]
			}
			got.Likeness[text+" | "+doc.Name] = sum
		}
	}
	if *update {
		b, err := json.MarshalIndent(got, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(b, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var want golden
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	if got.Fingerprint != want.Fingerprint {
		t.Fatalf("the table is %s and the golden file was made with %s: run the test with -update", got.Fingerprint,
			want.Fingerprint)
	}
	for _, text := range texts {
		for i, x := range got.Queries[text] {
			if !near(x, want.Queries[text][i]) {
				t.Errorf("component %d of %q is %v, want %v", i, text, x, want.Queries[text][i])
			}
		}
	}
	for pair, x := range want.Likeness {
		if !near(got.Likeness[pair], x) {
			t.Errorf("likeness of %s is %v, want %v", pair, got.Likeness[pair], x)
		}
	}
}

func near(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-5 }

// TestBuiltinUnderstands puts requests beside tools that share no word with them.
func TestBuiltinUnderstands(t *testing.T) {
	s := builtinTable(t)
	docs := []Document{
		{Name: "create_issue github", Description: "Creates a new issue in a repository."},
		{Name: "send_message gmail", Description: "Sends an email to one or more recipients."},
		{Name: "get_forecast weather", Description: "Returns the weather forecast for a place."},
		{Name: "delete_file filesystem", Description: "Deletes a file from disk."},
		{Name: "create_payment stripe", Description: "Charges a customer's card."},
	}
	vecs, err := s.Documents(t.Context(), docs)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		query string
		want  int
	}{
		{"file a bug report about the crash", 0},
		{"write to my boss that I am ill", 1},
		{"will it rain tomorrow", 2},
		{"get rid of this document", 3},
		{"bill the client 30 dollars", 4},
		{"E-Mail an das Team senden", 1},
		{"pronóstico del tiempo", 2},
		{"удалить файл", 3},
		{"删除文件", 3},
		{"メールを送信", 1},
		{"أرسل رسالة بريد", 1},
		{"파일 삭제", 3},
		{"फ़ाइल हटाओ", 3},
	}
	for _, test := range tests {
		t.Run(test.query, func(t *testing.T) {
			q := make([]float32, Dims)
			s.Query(test.query, q)
			best, likest := -1, float32(-1)
			for j, d := range vecs {
				sum := float32(0)
				for i := range q {
					sum += q[i] * d[i]
				}
				if sum > likest {
					best, likest = j, sum
				}
			}
			if best != test.want {
				t.Errorf("nearest is %s", docs[best].Name)
			}
		})
	}
}

func TestNoWordIsUnknown(t *testing.T) {
	s := builtinTable(t)
	for _, text := range []string{
		"q", "xqzzt", "Ünïçödé", "ѣ", "ჩამოტვირთვა", "ดาวน์โหลด", "ダウンロード", "𠮷野", "हटाओ", "ⅷ",
		"７", "ﷺ",
	} {
		v := make([]float32, Dims)
		s.Query(text, v)
		if n := norm2(v); math.Abs(n-1) > 1e-5 {
			t.Errorf("%q has length %v", text, n)
		}
	}
}

func TestQueryAllocatesNothing(t *testing.T) {
	s := builtinTable(t)
	v := make([]float32, Dims)
	for _, text := range []string{
		twelveWords, "создайте заявку о сломанной странице", "创建一个仓库", "createPullRequest2",
		strings.Repeat("ﷺ Å x1 ", 100),
	} {
		if n := testing.AllocsPerRun(20, func() { s.Query(text, v) }); n != 0 {
			t.Errorf("%v allocations for %.30q", n, text)
		}
	}
	d := Document{"create_issue", "Creates an issue.", "title body"}
	if n := testing.AllocsPerRun(20, func() { s.Document(d, v) }); n != 0 {
		t.Errorf("%v allocations for a document", n)
	}
	if n := testing.AllocsPerRun(20, func() {
		if _, err := Open(table); err != nil {
			t.Error(err)
		}
	}); n > 4 {
		t.Errorf("%v allocations for opening a table", n)
	}
}

func TestStaticConcurrently(t *testing.T) {
	s := builtinTable(t)
	want, err := s.Queries(t.Context(), []string{"open a ticket"})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				got := make([]float32, Dims)
				s.Query("open a ticket", got)
				if got[17] != want[0][17] {
					t.Error("another vector")
				}
			}
		})
	}
	wg.Wait()
}

func TestStaticBatches(t *testing.T) {
	s := builtinTable(t)
	texts := make([]string, 300)
	for i := range texts {
		texts[i] = fmt.Sprint("tool number ", i)
	}
	got, err := s.Queries(t.Context(), texts)
	if err != nil || len(got) != len(texts) {
		t.Fatalf("%d vectors, error %v", len(got), err)
	}
	one := make([]float32, Dims)
	s.Query(texts[299], one)
	if got[299][5] != one[5] {
		t.Error("a batch gives another vector than a call of its own")
	}
	got[0] = append(got[0], 1) // must not reach into the next
	if again, _ := s.Queries(t.Context(), texts[1:2]); got[1][0] != again[0][0] {
		t.Error("vectors share their ends")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := s.Documents(ctx, make([]Document, 3)); !errors.Is(err, context.Canceled) || got != nil {
		t.Errorf("after the context ended: %v, %v", got, err)
	}
}

func ExampleBuiltin() {
	model, err := Builtin()
	if err != nil {
		fmt.Println(err)
		return
	}
	query, right, other := make([]float32, Dims), make([]float32, Dims), make([]float32, Dims)
	model.Query("get rid of this document", query)
	model.Document(Document{Name: "delete_file", Description: "Removes a file from disk."}, right)
	model.Document(Document{Name: "get_forecast", Description: "Returns the weather for a place."}, other)
	dot := func(a, b []float32) (sum float32) {
		for i := range a {
			sum += a[i] * b[i]
		}
		return sum
	}
	fmt.Println(dot(query, right) > dot(query, other))
	// Output: true
}
