package embed

import (
	"testing"
)

const twelveWords = "open a ticket in the tracker about the broken login page now"

func BenchmarkQuery(b *testing.B) {
	s, err := Builtin()
	if err != nil {
		b.Fatal(err)
	}
	v := make([]float32, Dims)
	b.ReportAllocs()
	for b.Loop() {
		s.Query(twelveWords, v)
	}
}

func BenchmarkTokens(b *testing.B) {
	s, err := Builtin()
	if err != nil {
		b.Fatal(err)
	}
	var g tokenBag
	b.ReportAllocs()
	for b.Loop() {
		s.readText(&g, twelveWords, queryTokens)
	}
}

func BenchmarkQueryCyrillic(b *testing.B) {
	s, err := Builtin()
	if err != nil {
		b.Fatal(err)
	}
	v := make([]float32, Dims)
	b.ReportAllocs()
	for b.Loop() {
		s.Query("создайте заявку о сломанной странице входа", v)
	}
}

func BenchmarkDocument(b *testing.B) {
	s, err := Builtin()
	if err != nil {
		b.Fatal(err)
	}
	d := Document{
		Name:        "create_issue github",
		Description: "Creates a new issue in a repository, with a title, a body in Markdown, labels and people it is assigned to. Returns the number and the address of the issue.",
		Parameters:  "owner repo title body labels assignees owner of the repository name of the repository title of the issue",
	}
	v := make([]float32, Dims)
	b.ReportAllocs()
	for b.Loop() {
		s.Document(d, v)
	}
}

func BenchmarkOpen(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Open(table); err != nil {
			b.Fatal(err)
		}
	}
}
