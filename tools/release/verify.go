package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// verify builds for ps twice, here and in a copy in another folder, each with a compiler's cache that is empty, and
// fails if a file differs. It returns the checksums.
func (s source) verify(ctx context.Context, at time.Time, ps ...platform) (string, error) {
	work, err := os.MkdirTemp("", "tooldex-verify")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(work) }()
	there := s
	there.dir = filepath.Join(work, "another", "folder")
	if err := s.copyTo(ctx, there.dir); err != nil {
		return "", err
	}
	var got [2]string
	for i, one := range []source{s, there} {
		one.cache = filepath.Join(work, fmt.Sprintf("cache%d", i))
		out := filepath.Join(work, fmt.Sprintf("out%d", i))
		if err := one.publish(ctx, out, at, ps...); err != nil {
			return "", err
		}
		text, err := os.ReadFile(filepath.Join(out, sums))
		if err != nil {
			return "", err
		}
		got[i] = string(text)
	}
	return got[0], differ(got[0], got[1])
}

// differ returns an error that names the files whose checksums differ between the lists.
func differ(a, b string) error {
	if a == b {
		return nil
	}
	has := map[string]bool{}
	for line := range strings.Lines(a) {
		has[line] = true
	}
	var names []string
	for line := range strings.Lines(b) {
		if !has[line] {
			_, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
			names = append(names, name)
		}
	}
	return fmt.Errorf("the second build differs from the first: %s\nfirst:\n%ssecond:\n%s", strings.Join(names, ", "),
		a, b)
}
