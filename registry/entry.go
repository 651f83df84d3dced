package registry

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tooldex/internal/sanitize"
	"tooldex/tool"
	"tooldex/upstream"
)

// Entry is one server of a registry, in its latest version.
type Entry struct {
	Name        string    `json:"name"` // such as io.github.owner/name
	Title       string    `json:"title,omitempty"`
	Description string    `json:"description,omitempty"`
	Version     string    `json:"version,omitempty"`
	Source      string    `json:"source,omitempty"`     // the address of its repository
	Deprecated  bool      `json:"deprecated,omitempty"` // its publisher says so
	Packages    []Package `json:"packages,omitempty"`
	Remotes     []Remote  `json:"remotes,omitempty"`
}

// Package is a way to run a server on this machine.
type Package struct {
	Registry    string  `json:"registryType"` // npm, pypi, oci, nuget or mcpb
	Identifier  string  `json:"identifier"`
	Version     string  `json:"version,omitempty"`
	Transport   Remote  `json:"transport"`
	RuntimeArgs []Input `json:"runtimeArguments,omitempty"`
	Args        []Input `json:"packageArguments,omitempty"`
	Env         []Input `json:"environmentVariables,omitempty"`
}

// Remote is a server that somebody else runs.
type Remote struct {
	Type    string  `json:"type"` // streamable-http or sse; stdio in a package
	URL     string  `json:"url,omitempty"`
	Headers []Input `json:"headers,omitempty"`
}

// Input is an argument, a variable or a header.
type Input struct {
	Type        string `json:"type,omitempty"` // of arguments: positional or named
	Name        string `json:"name,omitempty"`
	Hint        string `json:"valueHint,omitempty"`
	Description string `json:"description,omitempty"`
	Value       string `json:"value,omitempty"`
	Default     string `json:"default,omitempty"`
	Required    bool   `json:"isRequired,omitempty"`
	Secret      bool   `json:"isSecret,omitempty"`
}

// listedEntry is an entry as the API lists it.
type listedEntry struct {
	Server struct {
		Entry
		Repository struct {
			URL string `json:"url"`
		} `json:"repository"`
	} `json:"server"`
	Meta struct {
		Official struct {
			Status string `json:"status"`
		} `json:"io.modelcontextprotocol.registry/official"`
	} `json:"_meta"`
}

// validName is the form of names: a domain in reverse, and a name.
var validName = regexp.MustCompile(`^[A-Za-z0-9.-]{1,200}/[A-Za-z0-9._-]{1,100}$`)

// maxText bounds a text of an entry, in bytes.
const maxText = 500

// entry returns the cleaned entry, and false for one that is deleted or has no proper name.
func (l *listedEntry) entry() (Entry, bool) {
	e := l.Server.Entry
	if !validName.MatchString(e.Name) || l.Meta.Official.Status == "deleted" {
		return Entry{}, false
	}
	e.Title, e.Description = sanitize.Text(e.Title, maxText), sanitize.Text(e.Description, maxText)
	e.Version, e.Source = sanitize.Text(e.Version, maxText), sanitize.Text(l.Server.Repository.URL, maxText)
	e.Deprecated = l.Meta.Official.Status == "deprecated"
	return e, true
}

// ShortName returns the part of the name that a server is called by here.
func (e *Entry) ShortName() string { return e.Name[strings.LastIndexByte(e.Name, '/')+1:] }

// Launch is a server as it would be configured.
type Launch struct {
	Server upstream.Server `json:"server"`
	Wants  []Want          `json:"wants,omitempty"` // what a person has to give before it works
}

// Want is a variable of the environment that a server refers to.
type Want struct {
	Variable string `json:"variable"`
	About    string `json:"about,omitempty"`
	Required bool   `json:"required,omitempty"`
	Secret   bool   `json:"secret,omitempty"`
}

// Launch returns how the server is reached: a remote one if there is, otherwise its package for npx, uvx, docker or
// dnx, in this order. What a person must give becomes a reference to a variable of the environment. The error is
// Invalid for an entry that names nothing that can run.
func (e *Entry) Launch() (*Launch, error) {
	for _, r := range e.Remotes {
		if r.URL != "" && (r.Type == "streamable-http" || r.Type == "sse") && !strings.Contains(r.URL, "{") {
			return e.remoteLaunch(r), nil
		}
	}
	for _, kind := range []string{"npm", "pypi", "oci", "nuget"} {
		for i := range e.Packages {
			p := &e.Packages[i]
			if p.Registry == kind && cmp.Or(p.Transport.Type, "stdio") == "stdio" && p.wellFormed() {
				return e.packageLaunch(p), nil
			}
		}
	}
	return nil, &tool.Error{
		Code: tool.Invalid, Op: "launch", Msg: e.Name + " names no package or address that tooldex can use",
		Hint: "see " + cmp.Or(e.Source, "its documentation") + ", and add it with its command",
	}
}

// plainWord is what identifiers and versions may be: nothing that a program would take for an option.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9@][A-Za-z0-9@/._:+-]{0,250}$`)

// wellFormed reports whether the parts of a command line that the entry chooses are plain words.
func (p *Package) wellFormed() bool {
	return plainWord.MatchString(p.Identifier) && (p.Version == "" || plainWord.MatchString(p.Version))
}

func (e *Entry) remoteLaunch(r Remote) *Launch {
	l := &Launch{Server: upstream.Server{Name: e.ShortName(), URL: r.URL, Transport: upstream.HTTP}}
	if r.Type == "sse" {
		l.Server.Transport = upstream.SSE
	}
	for _, h := range r.Headers {
		if h.Name == "" {
			continue
		}
		if l.Server.Headers == nil {
			l.Server.Headers = map[string]string{}
		}
		l.Server.Headers[h.Name] = l.value(h, e.ShortName()+"_"+h.Name)
	}
	return l
}

func (e *Entry) packageLaunch(p *Package) *Launch {
	l := &Launch{Server: upstream.Server{Name: e.ShortName(), Transport: upstream.Stdio}}
	s := &l.Server
	for _, v := range p.Env {
		if v.Name == "" || v.Value == "" && v.Default == "" && !v.Required && !v.Secret {
			continue // it works without
		}
		if s.Env == nil {
			s.Env = map[string]string{}
		}
		s.Env[v.Name] = l.value(v, v.Name)
	}
	runtime, args := l.arguments(p.RuntimeArgs), l.arguments(p.Args)
	at := func(sep string) string {
		if p.Version == "" {
			return p.Identifier
		}
		return p.Identifier + sep + p.Version
	}
	switch p.Registry {
	case "npm":
		s.Command = "npx"
		s.Args = slices.Concat([]string{"-y"}, without(runtime, "-y", "--yes"), []string{at("@")}, args)
	case "pypi":
		s.Command, s.Args = "uvx", slices.Concat(runtime, []string{at("==")}, args)
	case "oci":
		image := p.Identifier
		if p.Version != "" && !strings.Contains(image[strings.LastIndexByte(image, '/')+1:], ":") {
			image += ":" + p.Version
		}
		run := []string{"run", "-i", "--rm"}
		for _, v := range p.Env {
			if _, ok := s.Env[v.Name]; ok {
				run = append(run, "-e", v.Name)
			}
		}
		s.Command, s.Args = "docker", slices.Concat(run, without(runtime, run...), []string{image}, args)
	case "nuget":
		s.Command, s.Args = "dnx", slices.Concat([]string{at("@"), "--yes"}, runtime, []string{"--"}, args)
	}
	return l
}

// without returns words without those of drop.
func without(words []string, drop ...string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(drop, w) })
}

// arguments returns the words of a list of arguments. Optional ones without a value are left out.
func (l *Launch) arguments(list []Input) []string {
	var out []string
	for _, a := range list {
		if a.Value == "" && a.Default == "" && !a.Required {
			continue
		}
		value := l.value(a, cmp.Or(a.Hint, a.Name, "argument"))
		if a.Type == "named" && a.Name != "" {
			out = append(out, a.Name)
		}
		if a.Type != "named" || a.Value != "" || a.Default != "" || a.Hint != "" {
			out = append(out, value)
		}
	}
	return out
}

// value returns the value of an input, or a reference to a variable of the environment that a person has to set.
func (l *Launch) value(in Input, name string) string {
	given := cmp.Or(in.Value, in.Default)
	if given != "" && !in.Secret && !strings.Contains(given, "{") {
		return given
	}
	variable := variableName(name)
	l.Wants = append(l.Wants, Want{
		Variable: variable, About: sanitize.Text(in.Description, maxText), Required: in.Required, Secret: in.Secret,
	})
	if before, after, ok := strings.Cut(given, "{"); ok { // Bearer {token}
		if _, rest, ok := strings.Cut(after, "}"); ok && !strings.Contains(rest, "{") {
			return fmt.Sprintf("%s${%s}%s", before, variable, rest)
		}
	}
	return "${" + variable + "}"
}

// variableName makes a name of the environment of any text.
func variableName(s string) string {
	out := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_':
			return r
		}
		return '_'
	}, s)
	out = strings.Trim(out, "_")
	if out == "" || out[0] >= '0' && out[0] <= '9' {
		out = "VALUE_" + out
	}
	return out
}
