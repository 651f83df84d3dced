package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/jsonschema-go/jsonschema"
)

// TestSBOM makes the bill of a program that was built from this repository, and wants it to be as the standard's own
// schema has it, and to tell of each module what the module's own files tell.
func TestSBOM(t *testing.T) {
	if testing.Short() {
		t.Skip("links the program")
	}
	program := filepath.Join(t.TempDir(), "tooldex")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/tooldex")
	build.Dir = top
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := source{dir: top, version: "v1.2.3", commit: "abc"}
	at := time.Unix(1_750_000_000, 0)
	text, err := s.sbom(t.Context(), program, at)
	if err != nil {
		t.Fatal(err)
	}
	valid(t, schema(t), text)
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(text), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	if bom.Metadata.Timestamp != "2025-06-15T15:06:40Z" || bom.Metadata.Component.Version != "v1.2.3" {
		t.Errorf("it is of %s, for %s", bom.Metadata.Timestamp, bom.Metadata.Component.Version)
	}
	got := map[string]string{}
	for _, c := range *bom.Components {
		l := (*c.Licenses)[0]
		if l.License != nil {
			l.Expression = l.License.ID
		}
		got[c.Name+"@"+c.Version] = l.Expression
		if strings.Contains(c.PackageURL, "+") {
			t.Errorf("%s: a package URL must escape +", c.PackageURL)
		}
	}
	linked, err := s.linked(t.Context(), host())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range linked {
		l, err := licenceOf(m)
		if err != nil {
			t.Fatal(err)
		}
		if have := got[m.Path+"@"+m.Version]; have != l.expression() {
			t.Errorf("%s %s: licence %q, want %q", m.Path, m.Version, have, l.expression())
		}
	}
	if len(got) != len(linked) || len(*(*bom.Dependencies)[0].Dependencies) != len(linked) {
		t.Errorf("%d components, want %d", len(got), len(linked))
	}
	again, err := s.sbom(t.Context(), program, at)
	if err != nil || !bytes.Equal(text, again) {
		t.Errorf("the second bill of the same program differs: %v", err)
	}
}

// TestSchemaRefuses: the schema does not take everything.
func TestSchemaRefuses(t *testing.T) {
	rs := schema(t)
	for name, text := range map[string]string{
		"another format":       `{"bomFormat": "SPDX", "specVersion": "1.6"}`,
		"no such type":         `{"bomFormat": "CycloneDX", "specVersion": "1.6", "components": [{"type": "thing", "name": "x"}]}`,
		"no such licence":      `{"bomFormat": "CycloneDX", "specVersion": "1.6", "components": [{"type": "library", "name": "x", "licenses": [{"license": {"id": "Beer"}}]}]}`,
		"no such property":     `{"bomFormat": "CycloneDX", "specVersion": "1.6", "components": [{"type": "library", "name": "x", "purrl": "y"}]}`,
		"no such serial":       `{"bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": "7"}`,
		"a component unnamed":  `{"bomFormat": "CycloneDX", "specVersion": "1.6", "components": [{"type": "library"}]}`,
		"the same thing twice": `{"bomFormat": "CycloneDX", "specVersion": "1.6", "components": [{"type": "library", "name": "x"}, {"type": "library", "name": "x"}]}`,
	} {
		if err := check(rs, []byte(text)); err == nil {
			t.Errorf("%s: the schema takes %s", name, text)
		}
	}
}

func valid(t *testing.T, rs *jsonschema.Resolved, text []byte) {
	t.Helper()
	if err := check(rs, text); err != nil {
		t.Errorf("the bill is not as the schema has it: %v", err)
	}
}

func check(rs *jsonschema.Resolved, text []byte) error {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	return rs.Validate(v)
}

// schema is that of CycloneDX 1.6, as it lies in the module that writes the bills.
func schema(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	dir, err := source{dir: "."}.run(context.Background(), host(), "go", "list", "-m", "-f", "{{.Dir}}",
		"github.com/CycloneDX/cyclonedx-go")
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) (*jsonschema.Schema, error) {
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "schema", name))
		if err != nil {
			return nil, err
		}
		var s jsonschema.Schema
		return &s, json.Unmarshal(text, &s)
	}
	s, err := read("bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	rs, err := s.Resolve(&jsonschema.ResolveOptions{Loader: func(u *url.URL) (*jsonschema.Schema, error) {
		switch filepath.Base(u.Path) {
		case "spdx.schema.json":
			return read("spdx.schema.json")
		case "jsf-0.82.schema.json":
			return read("jsf-0.82.schemax.json")
		}
		return nil, fmt.Errorf("no schema is called %s", u)
	}})
	if err != nil {
		t.Fatal(err)
	}
	return rs
}
