package gauge

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Queries reads the requests of the labelled set in a folder of data.
func Queries(data string) ([]string, error) {
	path := filepath.Join(data, "intents", "queries.jsonl")
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var out []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var q struct {
			Query string `json:"query"`
		}
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, q.Query)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s holds no requests", path)
	}
	return out, nil
}

// Dumps lists the tools/list answers of the catalogue in a folder of data.
func Dumps(data string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(data, "catalogue", "*.json"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s holds no catalogue", data)
	}
	return files, err
}
