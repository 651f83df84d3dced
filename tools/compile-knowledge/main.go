package main

import (
	"flag"
	"fmt"
	"os"

	"tooldex/catalog"
	"tooldex/embed"
	"tooldex/knowledge"
)

func main() {
	data := flag.String("data", "knowledge/data", "folder of the texts")
	out := flag.String("out", "knowledge/base.bin", "file to write")
	flag.Parse()
	if err := run(*data, *out); err != nil {
		fmt.Fprintln(os.Stderr, "compile-knowledge:", err)
		os.Exit(1)
	}
}

func run(data, out string) error {
	src, err := knowledge.ReadSource(os.DirFS(data))
	if err != nil {
		return err
	}
	static, err := embed.Builtin()
	if err != nil {
		return err
	}
	compiled, err := knowledge.Compile(src, catalog.Encoder(static))
	if err != nil {
		return err
	}
	if err := os.WriteFile(out, compiled, 0o644); err != nil {
		return err
	}
	fmt.Printf("%s: %d archetypes, %d thesaurus groups, %d lexicon entries, %d bytes\n", out, len(src.Archetypes),
		len(src.Thesaurus), len(src.Lexicon), len(compiled))
	return nil
}
