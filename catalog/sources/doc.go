// Package sources reads the files that tools and servers come from, and defines [Source], which offers tools.
//
// [ReadFile] recognises a file by its content: a tools/list dump, a catalogue file in YAML or JSON
// (docs/reference/catalogue-file.md), an overlay, an mcpServers file of any client, or the config.toml of Codex. It
// returns a [Content]: a [File] for each server whose tools the file holds, the servers it configures, and its overlay.
// Package catalog takes each as a [Source] and stores what it offers.
//
// Schemas and other JSON keep their bytes. Every error is a *tool.Error with code Invalid that names the file and,
// where one is at fault, the line.
//
// readfile.go decides by the content which reader a file gets. node.go makes YAML and JSON look alike to catalogue.go,
// overlay.go and fields.go; json.go reads dumps without building values (dump.go); mcpservers.go and codex.go read what
// clients configure; files.go lists folders and archives.
package sources
