package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// notices is the text that must go with a program: what each module in it may be used under, in its own words.
func (s source) notices(ctx context.Context, ps ...platform) ([]byte, error) {
	modules, err := s.linked(ctx, ps...)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintln(&out, "tooldex contains the modules below. Each is followed by its licence and its notices, as its authors wrote them.")
	for _, m := range modules {
		l, err := licenceOf(m)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "\n%s\n%s %s (%s)\nsource: %s\n", strings.Repeat("=", 80), m.Path, m.Version, l.expression(),
			m.origin())
		for _, f := range l.files {
			text, err := os.ReadFile(filepath.Join(m.Dir, filepath.FromSlash(f)))
			if err != nil {
				return nil, fmt.Errorf("module %s: %w", m.Path, err)
			}
			fmt.Fprintf(&out, "\n--- %s ---\n\n%s\n", f, bytes.TrimSpace(bytes.ReplaceAll(text, []byte("\r\n"),
				[]byte("\n"))))
		}
	}
	return out.Bytes(), nil
}

// origin is where anybody can get the source that was built.
func (m module) origin() string {
	if m.Path == standard {
		return "https://go.dev/dl/go" + m.Version + ".src.tar.gz"
	}
	return "https://pkg.go.dev/" + m.Path + "@" + m.Version
}

// licences lists each module with its licence, one a line. It is what NOTICE must hold.
func (s source) licences(ctx context.Context, ps ...platform) ([]string, error) {
	modules, err := s.linked(ctx, ps...)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, m := range modules {
		l, err := licenceOf(m)
		if err != nil {
			return nil, err
		}
		out = append(out, fmt.Sprintf("%s, %s", m.Path, l.expression()))
	}
	return out, nil
}
