package clients

import (
	"path/filepath"
	"slices"
)

// Format is how a file is written.
type Format int

// The formats.
const (
	JSON Format = iota // with comments and trailing commas, if the person likes them
	TOML
)

// File is where a client keeps servers.
type File struct {
	Client string
	Path   string
	Format Format
	// Sections are the paths of the objects that hold servers, of which any may be missing. A server is added to the
	// first.
	Sections [][]string
	Project  bool // of one project rather than of the person
	Typed    bool // its servers say of which type they are
}

// Client is a program that uses MCP servers.
type Client struct {
	Name  string // as on the command line: "claude-code"
	Title string // as its makers write it

	files func(p Place) []File // whose Client is filled in by Files
}

// Files lists where the client keeps servers, the person's own first. Not all of them need to exist. In the home
// directory, a project's file may be the person's own; it is listed once.
func (c Client) Files(p Place) []File {
	out := c.files(p)
	for i := range out {
		out[i].Client = c.Name
	}
	seen := map[string]bool{"": true}
	return slices.DeleteFunc(out, func(f File) bool {
		known := seen[f.Path]
		seen[f.Path] = true
		return known
	})
}

// Place says where files are looked for.
type Place struct {
	OS     string // as in runtime.GOOS
	Home   string
	Dir    string              // the folder of the project
	Getenv func(string) string // required
}

// home joins a path to the home directory, "" if there is none.
func (p Place) home(parts ...string) string { return under(p.Home, parts...) }

// project joins a path to the project's folder.
func (p Place) project(parts ...string) string { return under(p.Dir, parts...) }

// app joins a path to where the platform's desktop programs keep their settings.
func (p Place) app(parts ...string) string {
	switch p.OS {
	case "windows":
		return under(p.Getenv("APPDATA"), parts...)
	case "darwin":
		return p.home(append([]string{"Library", "Application Support"}, parts...)...)
	}
	if dir := p.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return under(dir, parts...)
	}
	return p.home(append([]string{".config"}, parts...)...)
}

func under(dir string, parts ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, parts...)...)
}

// Known lists the clients.
func Known() []Client {
	return []Client{
		{"claude-desktop", "Claude Desktop", func(p Place) []File {
			return []File{{Path: p.app("Claude", "claude_desktop_config.json"), Sections: plain}}
		}},
		{"claude-code", "Claude Code", claudeCode},
		{"cursor", "Cursor", func(p Place) []File {
			return []File{
				{Path: p.home(".cursor", "mcp.json"), Sections: plain},
				{Path: p.project(".cursor", "mcp.json"), Sections: plain, Project: true},
			}
		}},
		{"vscode", "VS Code", func(p Place) []File {
			return []File{
				{Path: p.app("Code", "User", "mcp.json"), Sections: [][]string{{"servers"}}, Typed: true},
				// until mid-2025
				{Path: p.app("Code", "User", "settings.json"), Sections: [][]string{{"mcp", "servers"}}, Typed: true},
				{Path: p.project(".vscode", "mcp.json"), Sections: [][]string{{"servers"}}, Project: true, Typed: true},
			}
		}},
		{"gemini", "Gemini CLI", func(p Place) []File {
			return []File{
				{Path: p.home(".gemini", "settings.json"), Sections: plain},
				{Path: p.project(".gemini", "settings.json"), Sections: plain, Project: true},
			}
		}},
		{"codex", "Codex", func(p Place) []File {
			path := p.home(".codex", "config.toml")
			if dir := p.Getenv("CODEX_HOME"); dir != "" {
				path = filepath.Join(dir, "config.toml")
			}
			return []File{{Path: path, Format: TOML, Sections: [][]string{{"mcp_servers"}}}}
		}},
		{"windsurf", "Windsurf", func(p Place) []File {
			return []File{{Path: p.home(".codeium", "windsurf", "mcp_config.json"), Sections: plain}}
		}},
	}
}

// plain is where most clients keep servers.
var plain = [][]string{{"mcpServers"}}

// claudeCode has servers of the person, of the person in one project, and of the project.
func claudeCode(p Place) []File {
	path := p.home(".claude.json")
	if dir := p.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		path = filepath.Join(dir, ".claude.json")
	}
	sections := plain
	if p.Dir != "" {
		sections = [][]string{{"mcpServers"}, {"projects", p.Dir, "mcpServers"}}
	}
	return []File{
		{Path: path, Sections: sections, Typed: true},
		{Path: p.project(".mcp.json"), Sections: plain, Project: true, Typed: true},
	}
}

// Named returns the client of that name.
func Named(name string) (Client, bool) {
	for _, c := range Known() {
		if c.Name == name {
			return c, true
		}
	}
	return Client{}, false
}

// Names lists the names of the clients.
func Names() []string {
	var out []string
	for _, c := range Known() {
		out = append(out, c.Name)
	}
	return out
}
