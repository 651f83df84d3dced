package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// sbom is the bill of materials of a program, as it tells itself: each module with its version, licence and checksum,
// as CycloneDX 1.6 in JSON. It depends on the program and the time alone.
func (s source) sbom(ctx context.Context, program string, at time.Time) ([]byte, error) {
	modules, err := s.inside(ctx, program)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	self := cdx.Component{
		BOMRef: "tooldex", Type: cdx.ComponentTypeApplication, Name: "tooldex", Version: s.version,
		Description: "Finds the right tool for an agent among those of many MCP servers",
		PackageURL:  "pkg:generic/tooldex@" + s.version,
		Licenses:    &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
		Hashes:      &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sum)}},
		Properties: &[]cdx.Property{
			{Name: "tooldex:file", Value: filepath.Base(program)},
			{Name: "tooldex:commit", Value: s.commit},
		},
	}
	bom := cdx.NewBOM()
	bom.SpecVersion, bom.JSONSchema = cdx.SpecVersion1_6, "http://cyclonedx.org/schema/bom-1.6.schema.json"
	bom.SerialNumber = serial(sum)
	bom.Metadata = &cdx.Metadata{Timestamp: at.UTC().Format(time.RFC3339), Component: &self}
	var parts []cdx.Component
	needs := []string{}
	for _, m := range modules {
		l, err := licenceOf(m)
		if err != nil {
			return nil, err
		}
		c := component(m, l)
		parts, needs = append(parts, c), append(needs, c.BOMRef)
	}
	bom.Components = &parts
	// what is linked, by whomever it was asked for
	bom.Dependencies = &[]cdx.Dependency{{Ref: self.BOMRef, Dependencies: &needs}}
	var out bytes.Buffer
	err = cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false).EncodeVersion(bom,
		cdx.SpecVersion1_6)
	return out.Bytes(), err
}

func component(m module, l licence) cdx.Component {
	purl := "pkg:golang/" + m.Path + "@" + strings.ReplaceAll(m.Version, "+", "%2B")
	c := cdx.Component{
		BOMRef: purl, Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: purl,
		Scope: cdx.ScopeRequired,
	}
	c.ExternalReferences = &[]cdx.ExternalReference{{Type: cdx.ERTypeDistribution, URL: m.origin()}}
	if len(l.ids) == 1 {
		c.Licenses = &cdx.Licenses{{License: &cdx.License{ID: l.ids[0]}}}
	} else {
		c.Licenses = &cdx.Licenses{{Expression: l.expression()}}
	}
	if m.Sum != "" { // of the names and contents of its files, and so none of those that a schema knows
		c.Properties = &[]cdx.Property{{Name: "go:sum", Value: m.Sum}}
	}
	return c
}

// serial names a bill by the program it is of, in the form of a UUID that was made by other means than those which the
// standard has.
func serial(sum [sha256.Size]byte) string {
	u := sum[:16]
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
