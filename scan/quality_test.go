package scan

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tooldex/internal/textclass"
	"tooldex/tool"
)

var update = flag.Bool("update", false, "write docs/scanner.md and the golden files anew")

// tally counts verdicts.
type tally struct{ hit, missed, alarm, clear int }

func (c *tally) add(l labelled, found bool) {
	switch attack := l.Label == "attack"; {
	case attack && found:
		c.hit++
	case attack:
		c.missed++
	case found:
		c.alarm++
	default:
		c.clear++
	}
}

func (c tally) precision() float64 { return ratio(c.hit, c.hit+c.alarm) }
func (c tally) recall() float64    { return ratio(c.hit, c.hit+c.missed) }

func ratio(a, b int) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

// measured is what the labelled sets give, by the part and the family.
type measured struct {
	parts    map[string]*tally
	families map[string]map[string]*tally
	results  map[string]*tally // of the descriptions alone, as results, by the part
}

func measure(t *testing.T) measured {
	m := measured{map[string]*tally{}, map[string]map[string]*tally{}, map[string]*tally{}}
	for _, file := range []string{"labelled.jsonl", "heldout.jsonl", "evasive.jsonl", "stranger.jsonl"} {
		for _, l := range readLabelled(t, file) {
			part := map[string]string{
				"labelled.jsonl": l.half(), "heldout.jsonl": "held out",
				"evasive.jsonl": "evasive", "stranger.jsonl": "stranger's",
			}[file]
			found := Grave(l.judge(t))
			if m.parts[part] == nil {
				m.parts[part], m.results[part] = &tally{}, &tally{}
			}
			m.parts[part].add(l, found)
			m.results[part].add(l, len((&Scanner{}).Result([]string{l.Description})) > 0)
			family := l.Label + " " + l.Family
			if m.families[family] == nil {
				m.families[family] = map[string]*tally{}
			}
			if m.families[family][part] == nil {
				m.families[family][part] = &tally{}
			}
			m.families[family][part].add(l, found)
		}
	}
	return m
}

// blindResults counts what is found in the set of whole results.
func blindResults(t *testing.T) (c tally) {
	for file, hostile := range map[string]bool{"attacks.jsonl": true, "honest.jsonl": false} {
		b, err := os.ReadFile(filepath.Join("testdata", "results", file))
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(b) {
			var l struct{ Text string }
			if err := json.Unmarshal(line, &l); err != nil {
				t.Fatal(err)
			}
			switch found := len((&Scanner{}).Result([]string{l.Text})) > 0; {
			case hostile && found:
				c.hit++
			case hostile:
				c.missed++
			case found:
				c.alarm++
			default:
				c.clear++
			}
		}
	}
	return c
}

// parts are those of the labelled tools.
var parts = []string{"tuned", "checked", "held out", "evasive", "stranger's"}

// TestLabelled holds the rules to what they reach, on the half that they were not written by, too.
func TestLabelled(t *testing.T) {
	m := measure(t)
	total := 0
	for _, part := range []string{"tuned", "checked", "held out"} {
		c := m.parts[part]
		total += c.hit + c.missed + c.alarm + c.clear
		if p, r := c.precision(), c.recall(); p < .98 || r < .95 {
			t.Errorf("%s: precision %.3f, recall %.3f of %+v", part, p, r, *c)
		}
	}
	if total < 300 {
		t.Errorf("%d labelled descriptions, want 300", total)
	}
}

// realTools reads the lists of tools of a folder of the data, one file a server.
func realTools(t testing.TB) []*tool.Tool {
	files, err := filepath.Glob(filepath.Join(dataDir(), "catalogue", "*.json"))
	if err != nil || len(files) == 0 {
		t.Skip("no data in " + dataDir() + ": set TOOLDEX_DATA")
	}
	var all []*tool.Tool
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var list struct {
			Tools []*tool.Tool `json:"tools"`
		}
		if err := json.Unmarshal(b, &list); err != nil {
			t.Fatal(err)
		}
		for _, x := range list.Tools {
			x.Server = strings.TrimSuffix(filepath.Base(f), ".json")
		}
		all = append(all, list.Tools...)
	}
	return all
}

// setTools reads the tools of one of the sets.
func setTools(t testing.TB, set string) []*tool.Tool {
	f, err := os.Open(filepath.Join(dataDir(), set, "tools.jsonl"))
	if err != nil {
		t.Skip("no set " + set + " in " + dataDir())
	}
	defer f.Close()
	var all []*tool.Tool
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var l struct {
			Name, Title, Description, Server string
			Parameters                       json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		all = append(all, &tool.Tool{
			Server: cmp.Or(l.Server, filepath.Base(set)), Name: l.Name, Title: l.Title,
			Description: l.Description, InputSchema: l.Parameters,
		})
	}
	return all
}

func dataDir() string {
	return cmp.Or(os.Getenv("TOOLDEX_DATA"), filepath.Join("..", "..", "shared", "data"))
}

// alarms counts the tools with findings that a model is warned of, and the findings of each rule by tool.
func alarms(tools []*tool.Tool) (flagged int, byRule map[string]int) {
	s, byRule := New(tools), map[string]int{}
	for _, t := range tools {
		rules := map[string]bool{}
		if found := s.Tool(t); Grave(found) {
			for _, f := range found {
				rules[f.Rule] = true
			}
		}
		if len(rules) > 0 {
			flagged++
		}
		for r := range rules {
			byRule[r]++
		}
	}
	return flagged, byRule
}

// TestPage holds docs/scanner.md to what is measured, and the false alarms on real tools to three in a thousand.
func TestPage(t *testing.T) {
	if testing.Short() {
		t.Skip("reads thousands of tools")
	}
	var b strings.Builder
	m := measure(t)
	b.WriteString(pageHead)
	b.WriteString("\n## Labelled tools\n\n| part | attacks | found | recall | honest | false alarms | precision |\n|---|---|---|---|---|---|---|\n")
	for _, part := range parts {
		c := m.parts[part]
		fmt.Fprintf(&b, "| %s | %d | %d | %.3f | %d | %d | %.3f |\n", part, c.hit+c.missed, c.hit, c.recall(),
			c.clear+c.alarm, c.alarm, c.precision())
	}
	b.WriteString("\nFound attacks by family, and false alarms where there were some:\n\n| family | tuned | checked | held out | evasive | stranger's |\n|---|---|---|---|---|---|\n")
	for _, family := range slices.Sorted(maps.Keys(m.families)) {
		line, found := "| "+family, 0
		for _, part := range parts {
			c := cmp.Or(m.families[family][part], &tally{})
			line += " |"
			if *c != (tally{}) {
				line += fmt.Sprintf(" %d of %d", c.hit+c.alarm, c.hit+c.alarm+c.missed+c.clear)
			}
			found += c.hit + c.alarm
		}
		if found > 0 {
			b.WriteString(line + " |\n")
		}
	}
	b.WriteString("\n## Real tools\n\n| tools | number | with findings | share | rules |\n|---|---|---|---|---|\n")
	row := func(name string, tools []*tool.Tool) float64 {
		n, rules := alarms(tools)
		var list []string
		for _, r := range slices.Sorted(maps.Keys(rules)) {
			list = append(list, fmt.Sprintf("%s %d", r, rules[r]))
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %.2f %% | %s |\n", name, len(tools), n, 100*ratio(n, len(tools)),
			strings.Join(list, ", "))
		return ratio(n, len(tools))
	}
	real, docker, mcpm := realTools(t), setTools(t, "sets/cat_docker_registry"), setTools(t, "sets/cat_mcpm_registry")
	if share := row("33 servers, as they answered (rules were tuned on them)", real); share > .003 {
		t.Errorf("%.2f %% of the real tools are flagged, at most .3 percent may be", 100*share)
	}
	unprepared := setTools(t, "unprepared")
	if share := row("33 further servers that nobody prepared for", unprepared); share > .02 {
		t.Errorf("%.2f %% of the tools of unprepared servers are flagged, at most 2 percent may be", 100*share)
	}
	asking := []string{"Ableton Live", "Blender"}
	row("of these, those of servers that do not ask for the user's words in every tool",
		slices.DeleteFunc(unprepared, func(x *tool.Tool) bool { return slices.Contains(asking, x.Server) }))
	row("a registry of 755 tools", docker)
	row("a registry of 2,247 tools", mcpm)
	row("of all of these, those of servers that the examples were not weighed with",
		slices.DeleteFunc(slices.Concat(real, docker, mcpm), func(x *tool.Tool) bool {
			return textclass.Fold(x.Server) != textclass.Folds-1
		}))
	b.WriteString(blindSets)
	b.WriteString(resultsHead)
	blind := blindResults(t)
	fmt.Fprintf(&b, "| blind | %d | %d | %d | %d |\n", blind.hit+blind.missed, blind.hit, blind.clear+blind.alarm, blind.alarm)
	for _, part := range parts {
		c := m.results[part]
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", part, c.hit+c.missed, c.hit, c.clear+c.alarm, c.alarm)
	}
	path := filepath.Join("..", "docs", "scanner.md")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(have), b.String()); diff != "" {
		t.Errorf("docs/scanner.md is old; go test ./scan -run TestPage -update writes it (-have +want):\n%s", diff)
	}
}

// blindSets are figures of sets that are not in the repository.
const blindSets = `
## Blind sets

Three authors who knew neither the rules nor the examples wrote 60 attacks and 60 honest look-alikes each, as tool definitions of
several techniques, places and languages. Set *a* was read while the examples of November 2026 were written; of *b* and *c* only the
counts below were seen, but many times while weights and thresholds were chosen, so a fresh set would score lower. Some
examples are close to what was missed in *a*. Before are the rules and examples of the version before.
` + "`go -C tools run ./scan-set FOLDER`" + ` measures such a folder; it prints counts and no texts.

| set | found before | precision before | found | precision | false alarms |
|---|---|---|---|---|---|
| a | .700 | .840 | .850 | .962 | 2 of 60 |
| b | .717 | .860 | .817 | .942 | 3 of 60 |
| c | .733 | .800 | .767 | .868 | 7 of 60 |

The aim, .90 of the attacks at a precision of .95, is missed on *b* and *c*, and so is the aim of .3 % on servers that nobody prepared
for. In *a*, what is missed most are attacks that sound like a fact of the tool ("accounts were remapped"), and orders in languages
with few examples; false alarms are guidance to models about other people's data. Treat a finding as a reason to look, and its absence as none.
`

const resultsHead = `
## Results of tools

Results are judged by fewer rules, since pages, mails and programs mention commands and keys. Beside the rules, each sentence is held
against the passages under ` + "`scan/result-examples`" + `, hostile ones and honest ones that look alike. With a fifth of these passages
held out, and before the plainest orders were added to them, 56 % of the hostile ones were found in an ordinary page (4 % by the rules
alone), and 4 % of the honest ones had a finding. Of 1,903 documents, the readme files, manuals, licences and release notes of npm and
Debian packages, 19 have one (10 by the rules alone); several of them are manuals of one package that mentions "agents".

The *blind* set has whole results: pages, mails, issues, logs and programs. In each attack one hostile passage is hidden among ordinary
text; half of the honest ones quote or resemble attacks. Its author knew neither the rules nor the examples, and no text of it was read,
but its counts were seen while two numbers were chosen. The rules alone found 9 of these attacks, with 20 false alarms. In the other
rows, descriptions of the labelled tools stand in for results; many of their attacks need the form of a tool, so fewer are found.

| part | attacks | found | honest | false alarms |
|---|---|---|---|---|
`

const pageHead = `# How well hostile tools are found

Made by ` + "`go test ./scan -run TestPage -update`" + `. The rules, and what follows from a finding, are in
[reference/trust.md](reference/trust.md).

The labelled tools are under ` + "`scan/testdata`" + `. Half of them are attacks, by family: instructions to the model, requests
for conversations and secrets in parameters, orders to read key files, hostile text in every part of a schema,
instructions in pieces, in other languages, encoded, in comments, behind invisible characters, names that look like
others, shadowing of other servers' tools, claims to come first, and changes after the fact. The other half is honest
and tricky: tools for passwords, prompts and shells, "must", "before", "IMPORTANT", ignore files, security scanners,
emoji and scripts with joiners.

The labelled set is split by a hash. The rules were written with the *tuned* part in view; the *checked* part only
counts results. The *held out* set was written before the first rule and not looked at again. One author wrote all
three, before the rules. The *stranger's* set was written later, by another author who knew neither the rules nor these
sets, and only measures: the first rules found 35 of 100 of those attacks. The *evasive* attacks were written after the
rules, by somebody who knows them and wants to get around them: they show what rules cannot do. Some of them only wrote
words in another way (spelled out, backwards, or with digits for letters); the scanner has learned those since. The
policies ` + "`quarantine`" + ` and ` + "`strict`" + ` do not depend on wording: they hold every change.

A finding counts here if clients are warned of it, which they are not of low ones. Of the servers that nobody prepared for, the texts
were not looked at. Two of them ask in a parameter of nearly every tool for the user's own words, which some are flagged for.

The rule "likely" holds each sentence against those under ` + "`scan/examples`" + `, hostile ones and honest ones that look alike, in more than twenty languages, which were
written without knowledge of the rules and of these sets. It weighs words, which words stand near each other, and the classes of
meaning that the rules have for them, so that one example stands for many wordings. ` + "`make train-scanner`" + ` weighs their words, those of the archetypes, and those of the real tools of three
quarters of all servers; it prints what the weights find of sentences that they do not know.
`
