package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// allowed lists the licences under which code may be linked into a program that is published under Apache-2.0.
func allowed() []string {
	return []string{
		"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT",
		"CC-BY-4.0", // of documents
		"FTL",       // asks for credit, which NOTICE gives
		"MPL-2.0",   // of files that stay as they are, and whose source anyone can get
	}
}

// choice is made where a module leaves one, in words that no program can be expected to read.
type choice struct {
	licence string
	file    string // that has its text
}

func choices() map[string]choice {
	return map[string]choice{"github.com/golang/freetype": {"FTL", "licenses/ftl.txt"}} // or GPL-2.0-or-later
}

// licence is what a module may be used under.
type licence struct {
	ids   []string // as SPDX names them, in the order of the text: all of them hold
	files []string // that must be handed on with a program, from the top of the module
}

// expression is the licence as SPDX writes it.
func (l licence) expression() string { return strings.Join(l.ids, " AND ") }

var (
	licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying)`)
	handedOn    = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)`)
)

// known is how much of a text must be that of licences: less, and it says something else as well.
const known = 80

// licenceOf reads what a module may be used under from the files at its top. It is an error if that cannot be told, or
// is not allowed.
func licenceOf(m module) (licence, error) {
	var out licence
	files, err := os.ReadDir(m.Dir)
	if err != nil {
		return out, fmt.Errorf("module %s: %w", m.Path, err)
	}
	chosen, decided := choices()[m.Path]
	for _, f := range files {
		if f.IsDir() || !handedOn.MatchString(f.Name()) || strings.HasSuffix(f.Name(), ".go") {
			continue
		}
		out.files = append(out.files, f.Name())
		if decided || !licenceFile.MatchString(f.Name()) {
			continue
		}
		if out.ids, err = recognise(out.ids, filepath.Join(m.Dir, f.Name())); err != nil {
			return out, fmt.Errorf("module %s: %w", m.Path, err)
		}
	}
	if decided {
		out.ids, out.files = []string{chosen.licence}, append(out.files, chosen.file)
	}
	if len(out.ids) == 0 {
		return out, fmt.Errorf("module %s: no licence was found at its top", m.Path)
	}
	for _, id := range out.ids {
		if !slices.Contains(allowed(), id) {
			return out, fmt.Errorf("module %s: licence %s is not among those allowed", m.Path, id)
		}
	}
	return out, nil
}

// recognise adds the licences whose texts a file holds.
func recognise(ids []string, file string) ([]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	found := licensecheck.Scan(text)
	if found.Percent < known {
		return nil, fmt.Errorf("only %.0f %% of %s is the text of a licence that is known", found.Percent,
			filepath.Base(file))
	}
	for _, m := range found.Match {
		if !slices.Contains(ids, m.ID) {
			ids = append(ids, m.ID)
		}
	}
	return ids, nil
}
