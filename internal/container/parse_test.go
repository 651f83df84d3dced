package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	const text = `
# a comment
ARG BASE=golang:1.26
FROM --platform=${BUILDPLATFORM} ${BASE} AS build
COPY a b \
	# a comment between
	/to/
RUN one \
	&& two
FROM node AS unused
COPY --from=build /x /x
FROM scratch
COPY --from=build --chown=1:2 /x /
HEALTHCHECK --interval=1s CMD ["/x", "health"]
CMD ["serve"]
`
	p, err := parse(text, map[string]string{"BUILDPLATFORM": "linux/amd64", "BASE": "golang:2"})
	if err != nil {
		t.Fatal(err)
	}
	want := []stage{
		{name: "build", base: "golang:2", does: []instruction{
			{line: 5, name: "COPY", text: "a b /to/"},
			{line: 8, name: "RUN", text: "one && two"},
		}},
		{name: "unused", base: "node", does: []instruction{{
			line: 11, name: "COPY", flags: []string{"--from=build"},
			text: "/x /x",
		}}},
		{base: "scratch", does: []instruction{
			{line: 13, name: "COPY", flags: []string{"--from=build", "--chown=1:2"}, text: "/x /"},
			{
				line: 14, name: "HEALTHCHECK", flags: []string{"--interval=1s"}, text: `CMD ["/x", "health"]`,
				exec: []string{"/x", "health"},
			},
			{line: 15, name: "CMD", text: `["serve"]`, exec: []string{"serve"}},
		}},
	}
	if d := cmp.Diff(want, p.stages, cmp.AllowUnexported(stage{}, instruction{})); d != "" {
		t.Error(d)
	}
	if got, err := p.needed(""); err != nil || !cmp.Equal(got, []int{0, 2}) {
		t.Errorf("the last stage is made with %v, %v", got, err)
	}
	if got, err := p.needed("unused"); err != nil || !cmp.Equal(got, []int{0, 1}) {
		t.Errorf("the other stage is made with %v, %v", got, err)
	}
}

// TestParseRefuses: what cannot be run here must not pass unnoticed.
func TestParseRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":                  {"", "no FROM"},
		"an unknown instruction":   {"FROM scratch\nONBUILD RUN x", "ONBUILD is not known"},
		"an unknown flag":          {"FROM scratch\nCOPY --link a b", "--link is not known"},
		"a flag of RUN":            {"FROM golang:1\nRUN --mount=type=cache,target=/x y", "flags and here-documents"},
		"a here-document":          {"FROM golang:1\nRUN <<EOF\nx\nEOF", "flags and here-documents"},
		"CMD for a shell":          {"FROM scratch\nCMD tooldex serve", "there is no shell"},
		"HEALTHCHECK for a shell":  {"FROM scratch\nHEALTHCHECK CMD tooldex health", "there is no shell"},
		"HEALTHCHECK NONE":         {"FROM scratch\nHEALTHCHECK NONE", "want HEALTHCHECK CMD"},
		"an instruction too early": {"WORKDIR /\nFROM scratch", "before the first FROM"},
		"an image without a name":  {"ARG X\nFROM ${X}", "want an image"},
		"a last line that goes on": {"FROM scratch\nENV A=1 \\", "goes on"},
		"nothing said":             {"FROM scratch\nUSER", "says nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parse(c.text, nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	p, err := parse("FROM scratch\nCOPY --from=later /a /b\nFROM scratch AS later", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.needed(""); err != nil {
		t.Errorf("the last stage needs nothing: %v", err)
	}
	p.stages = p.stages[:1]
	if _, err := p.needed(""); err == nil || !strings.Contains(err.Error(), `called "later"`) {
		t.Errorf("copies from a stage that is not there: %v", err)
	}
	if _, err := p.needed("none"); err == nil {
		t.Error("a stage that is not there was found")
	}
}

func TestExpand(t *testing.T) {
	values := map[string]string{"A": "1", "EMPTY": ""}
	for text, want := range map[string]string{
		"$A-${A}": "1-1", "${EMPTY:-x}": "x", "${NONE:-y}": "y", "${NONE}": "", "${A:-z}": "1",
	} {
		if got := expand(text, values); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
	want := map[string]string{"A": "1", "B": "two words", "C": ""}
	if d := cmp.Diff(want, pairs(`A=1 B="two words"  C=`)); d != "" {
		t.Error(d)
	}
}

// FuzzParse: a file that is read has stages, each with a base, and instructions that are known.
func FuzzParse(f *testing.F) {
	own, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(own))
	f.Add("FROM scratch\nCOPY --from=x a \\\n b\nCMD [\"\"]")
	f.Add("ARG A=${B:-$C}\nFROM $A AS b")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parse(text, map[string]string{"A": "x"})
		if err != nil {
			return
		}
		for i, s := range p.stages {
			if s.base == "" {
				t.Errorf("stage %d begins with nothing", i)
			}
			for _, in := range s.does {
				if _, ok := allowedFlags()[in.name]; !ok || in.text == "" {
					t.Errorf("instruction %+v", in)
				}
			}
		}
		if _, err := ignoring(text); err == nil {
			return
		}
	})
}
