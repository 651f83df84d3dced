package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// formula is what Homebrew is told. The archives have one folder at the top, which it enters.
var formula = template.Must(template.New("formula").Parse(`class Tooldex < Formula
  desc "{{.About}}"
  version "{{.Version}}"
  license "{{.Licence}}"
{{range .Systems}}
  on_{{.Name}} do
{{- range .Archives}}
    on_{{.Processor}} do
      url "{{.URL}}"
      sha256 "{{.Sum}}"
    end
{{- end}}
  end
{{end}}
  def install
    bin.install "tooldex"
    doc.install "README.md", "CHANGELOG.md", "NOTICE", "THIRD_PARTY"
    bash_completion.install "completions/tooldex.bash" => "tooldex"
    fish_completion.install "completions/tooldex.fish"
    zsh_completion.install "completions/tooldex.zsh" => "_tooldex"
  end

  service do
    run [opt_bin/"tooldex", "serve", "--listen", "127.0.0.1:8733"]
    keep_alive true
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/tooldex version")
    assert_match "read_file", shell_output("#{bin}/tooldex search --demo 'what is in this file'")
  end
end
`))

// formulaSystem is what a formula says of one operating system.
type formulaSystem struct {
	Name     string
	Archives []formulaArchive
}

// formulaArchive is the archive for one processor.
type formulaArchive struct{ Processor, URL, Sum string }

// writeFormula writes a Homebrew formula for the archives in out that it can use. They are downloaded from below the
// address downloads.
func (s source) writeFormula(out string, ps ...platform) error {
	var systems []formulaSystem
	for _, system := range []struct{ ours, theirs string }{{"darwin", "macos"}, {"linux", "linux"}} {
		one := formulaSystem{Name: system.theirs}
		for _, p := range ps {
			if p.os != system.ours {
				continue
			}
			name := s.archiveName(p) + ".tar.gz"
			data, err := os.ReadFile(filepath.Join(out, name))
			if err != nil {
				return err
			}
			one.Archives = append(one.Archives, formulaArchive{
				Processor: map[string]string{"amd64": "intel", "arm64": "arm"}[p.arch],
				URL:       strings.TrimSuffix(s.downloads, "/") + "/" + name, Sum: fmt.Sprintf("%x", sha256.Sum256(data)),
			})
		}
		if len(one.Archives) > 0 {
			systems = append(systems, one)
		}
	}
	if len(systems) == 0 {
		return nil
	}
	var b bytes.Buffer
	if err := formula.Execute(&b, map[string]any{
		"About": about, "Version": strings.TrimPrefix(s.version, "v"), "Licence": licenceID, "Systems": systems,
	}); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "tooldex.rb"), b.Bytes(), 0o644)
}
