package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version and commit are set by the linker for releases: see tools/release.
var (
	version = "dev"
	commit  = ""
)

type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Model    string `json:"model"`
}

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:         "version",
		Annotations: configOptional,
		Short:       "Print the version of the program and of the embedding model inside it",
		Args:        checkArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			v := versionInfo{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" +
				runtime.GOARCH, Revision: sourceRevision()}
			model, err := builtinModel()
			if err != nil {
				return err
			}
			v.Model = fmt.Sprintf("%s %d %s", model.Name, model.Dims, model.Fingerprint)
			return a.print(v, func(w io.Writer) error {
				return writeColumns(w, nil, [][]string{
					{"tooldex", v.Version},
					{"revision", v.Revision},
					{"go", v.Go},
					{"platform", v.Platform},
					{"model", v.Model},
				})
			})
		},
	}
}

// sourceRevision returns the commit that the program was built from, "" if the build did not record it.
func sourceRevision() string {
	if commit != "" {
		return commit
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
