package clients

import (
	"path/filepath"
	"slices"
)

// Format is how a file is written.
type Format int

// The formats.
const (
	JSON Format = iota // comments and trailing commas are allowed
	TOML
	YAML // each section is a key at the top
)

// File is where a client keeps servers.
type File struct {
	Client string // the name of the client
	Path   string
	Format Format
	// Sections are the paths of the objects that hold servers, of which any may be missing. A server is added to the
	// first.
	Sections [][]string
	Dialect  Dialect
	Project  bool // belongs to one project rather than to the user
	Typed    bool // servers have a member "type"
	// Permissions are the paths of files with rules that forbid tools, as Claude Code has them.
	Permissions []string
}

// Client is a program that uses MCP servers.
type Client struct {
	Name  string // as on the command line: "claude-code"
	Title string // for people: "Claude Code"

	files func(p Place) []File // Files fills in their Client; a path may be ""
}

// Files lists where the client keeps servers, the user's own files first. Not all of them need to exist. Files whose
// place is unknown are left out. If the project is the home directory, its file may be the user's own; it is listed
// once. The caller owns the slice, but not the Sections in it.
func (c Client) Files(p Place) []File {
	out := c.files(p)
	for i := range out {
		out[i].Client = c.Name
	}
	// "" stands for a path that joinKnown could not complete
	seen := map[string]bool{"": true}
	return slices.DeleteFunc(out, func(f File) bool {
		known := seen[f.Path]
		seen[f.Path] = true
		return known
	})
}

// Place says where to look for files. A place that is "" has none. Tests set all of it, so that no test depends on the
// machine.
type Place struct {
	OS     string              // as in runtime.GOOS
	Home   string              // the home directory
	Dir    string              // the folder of the project
	Getenv func(string) string // required
}

// inHome joins a path to the home directory, "" if there is none.
func (p Place) inHome(parts ...string) string { return joinKnown(p.Home, parts...) }

// inProject joins a path to the project's folder.
func (p Place) inProject(parts ...string) string { return joinKnown(p.Dir, parts...) }

// inAppData joins a path to the folder in which the platform's desktop programs keep their settings. A relative
// XDG_CONFIG_HOME is ignored, as the XDG specification demands.
func (p Place) inAppData(parts ...string) string {
	switch p.OS {
	case "windows":
		return joinKnown(p.Getenv("APPDATA"), parts...)
	case "darwin":
		return p.inHome(append([]string{"Library", "Application Support"}, parts...)...)
	}
	return p.inConfig(parts...)
}

// inConfig joins a path to the folder in which many programs keep their settings on every platform, ~/.config.
func (p Place) inConfig(parts ...string) string {
	if dir := p.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return joinKnown(dir, parts...)
	}
	return p.inHome(append([]string{".config"}, parts...)...)
}

// inExtension returns the path of a settings file of an extension of VS Code.
func (p Place) inExtension(extension, file string) string {
	return p.inAppData("Code", "User", "globalStorage", extension, "settings", file)
}

// joinKnown joins a path to dir, "" if dir is unknown.
func joinKnown(dir string, parts ...string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(append([]string{dir}, parts...)...)
}

// Known lists the clients. The order is that in which people see them, and in which Plan prefers their servers.
func Known() []Client { return append(firstClients(), moreClients()...) }

// firstClients are those that most people use.
func firstClients() []Client {
	return []Client{
		{"claude-desktop", "Claude Desktop", func(p Place) []File {
			return []File{{Path: p.inAppData("Claude", "claude_desktop_config.json"), Sections: plain}}
		}},
		{"claude-code", "Claude Code", claudeCode},
		{"cursor", "Cursor", func(p Place) []File {
			return []File{
				{Path: p.inHome(".cursor", "mcp.json"), Sections: plain},
				{Path: p.inProject(".cursor", "mcp.json"), Sections: plain, Project: true},
			}
		}},
		{"vscode", "VS Code", func(p Place) []File {
			return []File{
				{Path: p.inAppData("Code", "User", "mcp.json"), Sections: [][]string{{"servers"}}, Typed: true},
				// where VS Code kept servers until mid-2025
				{Path: p.inAppData("Code", "User", "settings.json"), Sections: [][]string{{"mcp", "servers"}}, Typed: true},
				{Path: p.inProject(".vscode", "mcp.json"), Sections: [][]string{{"servers"}}, Project: true, Typed: true},
			}
		}},
		{"gemini", "Gemini CLI", func(p Place) []File {
			return []File{
				{Path: p.inHome(".gemini", "settings.json"), Sections: plain},
				{Path: p.inProject(".gemini", "settings.json"), Sections: plain, Project: true},
			}
		}},
		{"codex", "Codex", func(p Place) []File {
			path := p.inHome(".codex", "config.toml")
			if dir := p.Getenv("CODEX_HOME"); dir != "" {
				path = filepath.Join(dir, "config.toml")
			}
			return []File{{Path: path, Format: TOML, Sections: [][]string{{"mcp_servers"}}}}
		}},
		{"windsurf", "Windsurf", func(p Place) []File {
			return []File{{Path: p.inHome(".codeium", "windsurf", "mcp_config.json"), Sections: plain}}
		}},
	}
}

// plain are the Sections of most clients. It is shared: it must not be changed.
var plain = [][]string{{"mcpServers"}}

// claudeCode returns the files of Claude Code. One of them holds the user's servers and those that the user has in this
// project alone; the other those of the project.
func claudeCode(p Place) []File {
	path := p.inHome(".claude.json")
	if dir := p.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		path = filepath.Join(dir, ".claude.json")
	}
	sections := plain
	if p.Dir != "" {
		sections = [][]string{{"mcpServers"}, {"projects", p.Dir, "mcpServers"}}
	}
	settings := p.inHome(".claude", "settings.json")
	if dir := p.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		settings = filepath.Join(dir, "settings.json")
	}
	permissions := slices.DeleteFunc([]string{
		settings, p.inProject(".claude", "settings.json"), p.inProject(".claude", "settings.local.json"),
	}, func(path string) bool { return path == "" })
	return []File{
		{Path: path, Sections: sections, Typed: true, Permissions: permissions},
		{Path: p.inProject(".mcp.json"), Sections: plain, Project: true, Typed: true, Permissions: permissions},
	}
}

// Named returns the client of a name, as on the command line.
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
