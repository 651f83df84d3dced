package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tooldex/config"
)

func newConfig(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show what is configured, and describe the configuration file",
		Args:  unknownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newConfigShow(a), newConfigSchema(a))
	return cmd
}

// configLine is one setting with its value in effect.
type configLine struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`
	Origin string `json:"origin"`           // default, file, environment or flag
	Source string `json:"source,omitempty"` // which flag or variable, or file:line
}

func newConfigShow(a *app) *cobra.Command {
	var origin bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show what is configured, and where each value comes from",
		Long: "Show the effective settings. Flags override the environment (TOOLDEX_*), which overrides the configuration file.\n" +
			"The file is that of --config or " + config.Variable +
			", or tooldex.yaml in the platform's configuration folder:\n" +
			"  " + config.DefaultPath(a.getenv),
		Example: "  tooldex config show --origin\n  tooldex -c team.yaml config show",
		Args:    checkArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			lines := []configLine{}
			for _, v := range a.settings.Values() {
				lines = append(lines, configLine{v.Key, v.Value, v.Origin.Layer, v.Origin.Source})
			}
			if !origin && a.format != "table" {
				return a.print(nestedValues(lines), nil)
			}
			return a.print(lines, func(w io.Writer) error { return configTable(w, lines, origin) })
		},
	}
	cmd.Flags().BoolVar(&origin, "origin", false, "show where each value comes from")
	return cmd
}

// nestedValues returns the values nested by the steps of their keys, as in the file.
func nestedValues(lines []configLine) map[string]any {
	out := map[string]any{}
	for _, l := range lines {
		at := out
		steps := strings.Split(l.Key, ".")
		for _, step := range steps[:len(steps)-1] {
			next, ok := at[step].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[step] = next
			}
			at = next
		}
		at[steps[len(steps)-1]] = l.Value
	}
	return out
}

func configTable(w io.Writer, lines []configLine, origin bool) error {
	heading := []string{"KEY", "VALUE"}
	if origin {
		heading = append(heading, "ORIGIN")
	}
	rows := make([][]string, len(lines))
	for i, l := range lines {
		rows[i] = []string{l.Key, config.TextOf(l.Value)}
		if origin {
			from := l.Origin
			if l.Source != "" && l.Source != l.Origin {
				from += " " + l.Source
			}
			rows[i] = append(rows[i], from)
		}
	}
	return writeColumns(w, heading, rows)
}

func newConfigSchema(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the configuration file, for editors",
		Long: "Print the JSON Schema of tooldex.yaml. An editor with a YAML language server reads it from a first line such as\n" +
			"  # yaml-language-server: $schema=tooldex.schema.json",
		Example:     "  tooldex config schema > tooldex.schema.json",
		Args:        checkArgs(cobra.NoArgs),
		Annotations: configOptional,
		RunE:        func(*cobra.Command, []string) error { return writeJSON(a.stdout, config.Schema()) },
	}
}
