package atomicfile_test

import (
	"fmt"
	"os"
	"path/filepath"

	"tooldex/internal/atomicfile"
)

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file := filepath.Join(dir, "settings.json")
	for _, text := range []string{`{"limit": 5}`, `{"limit": 8}`} {
		if err := atomicfile.Write(file, []byte(text), 0o600); err != nil {
			fmt.Println(err)
		}
	}
	b, err := os.ReadFile(file)
	fmt.Println(string(b), err)
	// Output: {"limit": 8} <nil>
}
