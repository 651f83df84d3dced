package config

import (
	"reflect"
	"strings"
)

// schema is the part of JSON Schema that configurations need: type, properties, additionalProperties, items, enum,
// pattern, minimum and maximum. Editors use it, and checker understands just these keywords.
type schema map[string]any

const schemaURI = "http://json-schema.org/draft-07/schema#"

// Schema returns the JSON Schema of the configuration file, which editors use and files are checked against.
func Schema() map[string]any {
	root := objectSchema("", map[string]schema{
		"$schema": stringOf("the schema of this file, for editors"),
		"servers": {
			"type": "object", "description": "MCP servers by name, as clients write them",
			"additionalProperties": serverSchema(),
		},
		"profiles": {
			"type": "object", "description": "subsets of the servers, each with an endpoint of its own",
			"additionalProperties": profileSchema(),
		},
	})
	properties := root.properties()
	properties["mcpServers"] = schema{
		"type": "object", "description": "the same as servers",
		"additionalProperties": serverSchema(),
	}
	for _, s := range Settings() {
		if s.Secret {
			continue
		}
		at, key := properties, s.Key
		if group, rest, ok := strings.Cut(key, "."); ok {
			if at[group] == nil {
				at[group] = objectSchema("of tooldex "+group, nil)
			}
			at, key = at[group].properties(), rest
		}
		at[key] = s.valueSchema()
	}
	root["$schema"] = schemaURI
	root["title"] = "Configuration of tooldex"
	return root
}

// valueSchema returns the schema of the value of a setting.
func (s Setting) valueSchema() schema {
	about := s.About
	if s.Flag != "" {
		about += " (--" + s.Flag + ", " + s.Env + ")"
	} else {
		about += " (" + s.Env + ")"
	}
	out := schema{"type": s.Kind(), "description": about}
	if s.Kind() == "array" {
		out = listOf("string", about)
	}
	if s.Default != nil {
		out["default"] = s.Default
	}
	if s.Kind() == "boolean" { // YAML 1.2 reads "on" as a text
		out["type"], out["pattern"] = []string{"boolean", "string"}, boolPattern
	}
	if s.Max != 0 {
		out["minimum"], out["maximum"] = s.Min, s.Max
	}
	if s.Choices != nil {
		out["enum"] = s.Choices
	}
	return out
}

// boolPattern matches the texts that ParseBool accepts.
const boolPattern = `^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee]|[Yy][Ee][Ss]|[Nn][Oo]|[Oo][Nn]|[Oo][Ff][Ff]|[TtFfYyNn01])$`

// properties returns the members of an object, nil for other schemas. Changes of the map change the schema.
func (s schema) properties() map[string]schema {
	p, _ := s["properties"].(map[string]schema)
	return p
}

// objectSchema returns the schema of an object with these members and no others. The same map is used, so that members
// can be added later.
func objectSchema(about string, properties map[string]schema) schema {
	if properties == nil {
		properties = map[string]schema{}
	}
	out := schema{"type": "object", "additionalProperties": false, "properties": properties}
	if about != "" {
		out["description"] = about
	}
	return out
}

// stringOf returns the schema of a string, one of choices if there are any.
func stringOf(about string, choices ...string) schema {
	out := schema{"type": "string", "description": about}
	if choices != nil {
		out["enum"] = choices
	}
	return out
}

// listOf returns the schema of a list whose elements are of one JSON type.
func listOf(kind, about string) schema {
	return schema{"type": "array", "description": about, "items": schema{"type": kind}}
}

// textMap returns the schema of an object whose members have any name and are strings, such as headers.
func textMap(about string) schema {
	return schema{"type": "object", "description": about, "additionalProperties": schema{"type": "string"}}
}

// typedSchema returns the schema of a value of one JSON type.
func typedSchema(kind, about string) schema { return schema{"type": kind, "description": about} }

// serverSchema describes a server by the keys that package sources reads. It has to follow that package: a key that is
// missing here is rejected in a tooldex.yaml.
func serverSchema() schema {
	kinds := []string{"stdio", "http", "sse", "streamable-http", "local", "remote", "openapi"}
	return objectSchema("", map[string]schema{
		"command": stringOf("the program"), "args": listOf("string", "its arguments"),
		"env":     textMap("variables of its environment"),
		"cwd":     stringOf("the folder in which it runs"),
		"envFile": stringOf("a file of further variables, of lines KEY=VALUE"),
		"url":     stringOf("of a server over HTTP"), "serverUrl": stringOf("the same as url"),
		"httpUrl": stringOf("the same as url"),
		"headers": textMap("sent with every request"),
		"openapi": stringOf("the file or the address of an OpenAPI description, whose operations become tools; url is then the API"),
		"auth":    textMap("${VAR} for each security scheme of the description"),
		"tags":    listOf("string", "of an API: only operations with one of these tags"),
		"paths":   listOf("string", "of an API: only operations that fit one of the patterns /path/* and METHOD /path/*"),
		"type":    stringOf("how it is reached", kinds...), "transport": stringOf("the same as type", kinds...),
		"disabled": typedSchema("boolean", "whether it is left out"), "enabled": typedSchema("boolean",
			"the contrary of disabled"),
		"timeout": typedSchema("number", "milliseconds for a call"), "callTimeout": typedSchema("number",
			"the same as timeout"),
		"startTimeout": typedSchema("number", "milliseconds for a start, not counting an installation by npx or uvx"),
		"trust":        typedSchema("boolean", "whether its tools are taken as they are, without a look at what they say"),
		"roots":        typedSchema("boolean", "whether it may know the folders that clients work in"),
		"start":        stringOf("eager: with tooldex serve; lazy: when it is first called", "lazy", "eager"),
		"idleTimeout":  typedSchema("number", "milliseconds without use after which it is stopped; negative for never"),
		"concurrency":  typedSchema("integer", "calls that run at once"), "queue": typedSchema("integer",
			"further calls that wait; negative for none"),
		"isolate": objectSchema("runs the command in bubblewrap, where it reaches what this names and nothing else",
			map[string]schema{
				"with":    stringOf("the program that isolates it", "bwrap"),
				"read":    listOf("string", "folders and files that it may read"),
				"write":   listOf("string", "folders and files that it may read and change"),
				"network": typedSchema("boolean", "whether it may use the network; false if left out"),
				"memory":  stringOf("the most memory of each of its processes, such as 512MB"),
			}),
		"oauth": objectSchema("how each user of the service gets a token of their own for a server over HTTP",
			map[string]schema{
				"perUser":      typedSchema("boolean", "whether each user logs in for themselves"),
				"exchange":     stringOf("the token endpoint at which the access token of the caller is exchanged (RFC 8693)"),
				"audience":     stringOf("the name of the server at that token endpoint; its url if left out"),
				"scopes":       listOf("string", "to ask for; those that the server names if left out"),
				"clientId":     stringOf("the client that was registered for tooldex by hand; exchange requires it"),
				"clientSecret": stringOf("${VAR} with the secret of that client"),
			}),
		"description": stringOf("for people"),
	})
}

// profileSchema describes a profile. Its keys come from the fields of Profile; one without a description here accepts
// any value.
func profileSchema() schema {
	abouts := map[string]schema{
		"mode":    stringOf("what tools/list holds; that of the whole if it is left out", Modes()...),
		"servers": listOf("string", "whose tools there are; all if it is left out"),
		"tools": listOf("string", "patterns server/tool: of a server that one of them names, only the tools that match one; "+
			"a star stands for any characters"),
		"hidden":  listOf("string", "tools that there are not, by patterns"),
		"always":  listOf("string", "tools that are always listed"),
		"summary": stringOf("what search_tools says of the catalogue"),
		"confirm": stringOf("which tools a person has to confirm each call of; as serve.confirm says if it is left out",
			ConfirmModes()...),
		"confirmTools":  listOf("string", "further tools that need it, by patterns"),
		"confirmExcept": listOf("string", "tools that need none, by patterns"),
		"tenant":        stringOf("the tenant of the database whose tools it has; that of store if it is left out"),
	}
	out := objectSchema("", nil)
	for f := range reflect.TypeFor[Profile]().Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if about, ok := abouts[key]; ok {
			out.properties()[key] = about
		} else if key != "" && key != "-" {
			out.properties()[key] = schema{}
		}
	}
	return out
}
