package clients

// moreClients are further clients. Where each keeps its servers, and how it writes them, is from its public
// documentation.
func moreClients() []Client {
	return []Client{
		{"zed", "Zed", func(p Place) []File {
			path := p.inConfig("zed", "settings.json")
			if p.OS == "windows" {
				path = p.inAppData("Zed", "settings.json")
			}
			servers := [][]string{{"context_servers"}}
			return []File{
				{Path: path, Sections: servers, Dialect: Zed},
				{Path: p.inProject(".zed", "settings.json"), Sections: servers, Dialect: Zed, Project: true},
			}
		}},
		{"cline", "Cline", func(p Place) []File {
			return []File{
				{Path: p.inExtension("saoudrizwan.claude-dev", "cline_mcp_settings.json"), Sections: plain, Dialect: Seconds},
				// of the command line
				{Path: p.inHome(".cline", "data", "settings", "cline_mcp_settings.json"), Sections: plain, Dialect: Seconds},
			}
		}},
		{"roo", "Roo Code", func(p Place) []File {
			return []File{
				{Path: p.inExtension("rooveterinaryinc.roo-cline", "mcp_settings.json"), Sections: plain, Dialect: Seconds},
				{Path: p.inProject(".roo", "mcp.json"), Sections: plain, Dialect: Seconds, Project: true},
			}
		}},
		{"continue", "Continue", func(p Place) []File {
			return []File{{Path: p.inHome(".continue", "config.yaml"), Format: YAML, Sections: plain, Dialect: Continue}}
		}},
		{"goose", "Goose", func(p Place) []File {
			path := p.inConfig("goose", "config.yaml")
			if p.OS == "windows" {
				path = p.inAppData("Block", "goose", "config", "config.yaml")
			}
			return []File{{Path: path, Format: YAML, Sections: [][]string{{"extensions"}}, Dialect: Goose}}
		}},
		{"opencode", "opencode", func(p Place) []File {
			servers := [][]string{{"mcp"}}
			return []File{
				{Path: p.inConfig("opencode", "opencode.json"), Sections: servers, Dialect: OpenCode},
				{Path: p.inConfig("opencode", "opencode.jsonc"), Sections: servers, Dialect: OpenCode},
				{Path: p.inProject("opencode.json"), Sections: servers, Dialect: OpenCode, Project: true},
			}
		}},
		{"lmstudio", "LM Studio", func(p Place) []File {
			return []File{{Path: p.inHome(".lmstudio", "mcp.json"), Sections: plain}}
		}},
		{"kiro", "Kiro", func(p Place) []File {
			return []File{
				{Path: p.inHome(".kiro", "settings", "mcp.json"), Sections: plain},
				{Path: p.inProject(".kiro", "settings", "mcp.json"), Sections: plain, Project: true},
			}
		}},
		{"jetbrains", "JetBrains Junie", func(p Place) []File {
			return []File{
				{Path: p.inHome(".junie", "mcp", "mcp.json"), Sections: plain},
				{Path: p.inProject(".junie", "mcp", "mcp.json"), Sections: plain, Project: true},
			}
		}},
		{"warp", "Warp", func(p Place) []File {
			return []File{
				{Path: p.inHome(".warp", ".mcp.json"), Sections: plain},
				{Path: p.inProject(".warp", ".mcp.json"), Sections: plain, Project: true},
			}
		}},
	}
}
