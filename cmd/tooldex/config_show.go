package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tooldex/tool"
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

// configLine is one setting as it holds now.
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
		Long: "Show what flags, environment (TOOLDEX_*), configuration file and defaults say together, each before the next.\n" +
			"The file is that of --config or " + configVariable +
			", or tooldex.yaml in the platform's configuration folder:\n" +
			"  " + defaultConfig(a.getenv),
		Example: "  tooldex config show --origin\n  tooldex -c team.yaml config show",
		Args:    wants(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			lines := a.conf.show()
			if !origin && a.format != "table" {
				tree := keyed{}
				for _, l := range lines {
					tree[l.Key] = l.Value
				}
				nested, err := tree.Read()
				if err != nil {
					return err
				}
				return a.print(nested, nil)
			}
			return a.print(lines, func(w io.Writer) error { return configTable(w, lines, origin) })
		},
	}
	cmd.Flags().BoolVar(&origin, "origin", false, "tell where each value comes from")
	return cmd
}

func configTable(w io.Writer, lines []configLine, origin bool) error {
	heading := []string{"KEY", "VALUE"}
	if origin {
		heading = append(heading, "ORIGIN")
	}
	rows := make([][]string, len(lines))
	for i, l := range lines {
		rows[i] = []string{l.Key, configText(l.Value)}
		if origin {
			from := l.Origin
			if l.Source != "" && l.Source != l.Origin {
				from += " " + l.Source
			}
			rows[i] = append(rows[i], from)
		}
	}
	return columns(w, heading, rows)
}

// show lists all that is configured.
func (c *configuration) show() []configLine {
	out := []configLine{}
	for _, s := range settings() {
		v, origin := c.value(s.key)
		if origin == "" {
			continue
		}
		if s.secret {
			v = "(set)"
		}
		l := configLine{Key: s.key, Value: v, Origin: origin}
		if origin != "default" {
			l.Source = c.source(s, origin)
		}
		out = append(out, l)
	}
	file := func(key string, value any) configLine {
		l := configLine{Key: key, Value: value, Origin: "file", Source: c.path}
		if n := c.file.lines[key]; n > 0 {
			l.Source = fmt.Sprintf("%s:%d", c.path, n)
		}
		return l
	}
	for _, s := range c.file.servers {
		l := file("servers."+s.Name, targetOf(s))
		if n := c.file.lines["mcpServers."+s.Name]; n > 0 {
			l.Source = fmt.Sprintf("%s:%d", c.path, n)
		}
		out = append(out, l)
	}
	for _, name := range sortedKeys(c.file.profiles) {
		p := c.file.profiles[name]
		servers := "all servers"
		if len(p.Servers) > 0 {
			servers = strings.Join(p.Servers, ",")
		}
		out = append(out, file("profiles."+name, servers))
	}
	return out
}

// targetOf is what a server is, without values that may be secret: its command line or its url.
func targetOf(s tool.Server) string {
	if s.Command != "" {
		return strings.Join(append([]string{s.Command}, s.Args...), " ")
	}
	return s.URL
}

func newConfigSchema(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the configuration file, for editors",
		Long: "Print the JSON Schema of tooldex.yaml. An editor with a YAML language server reads it from a first line such as\n" +
			"  # yaml-language-server: $schema=tooldex.schema.json",
		Example:     "  tooldex config schema > tooldex.schema.json",
		Args:        wants(cobra.NoArgs),
		Annotations: configOptional,
		RunE:        func(*cobra.Command, []string) error { return writeJSON(a.stdout, configSchema()) },
	}
}
