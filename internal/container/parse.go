package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// instruction is one of a Dockerfile.
type instruction struct {
	line  int
	name  string   // in capitals
	flags []string // --from=build
	text  string   // what follows the flags
	exec  []string // the same, where it is written as a JSON array
}

// flag is the value of --name=value, "" if it is not given.
func (in instruction) flag(name string) string {
	for _, f := range in.flags {
		if v, ok := strings.CutPrefix(f, "--"+name+"="); ok {
			return v
		}
	}
	return ""
}

// stage is what begins with a FROM.
type stage struct {
	name string // as FROM ... AS names it, "" if it does not
	base string // scratch, an earlier stage, or an image
	does []instruction
}

// plan is a Dockerfile that was read.
type plan struct {
	args   map[string]string // those before the first FROM, which only FROM reads
	stages []stage
}

// allowedFlags names the instructions that are known, and the flags of each. What is not here is refused: what cannot
// be run here must not be in the Dockerfile, or nobody has tried it.
func allowedFlags() map[string][]string {
	return map[string][]string{
		"ARG": nil, "FROM": {"platform"}, "WORKDIR": nil, "COPY": {"from", "chown"}, "RUN": nil, "ENV": nil,
		"VOLUME": nil, "EXPOSE": nil,
		"USER": nil, "HEALTHCHECK": {"interval", "timeout", "start-period", "retries"}, "ENTRYPOINT": nil, "CMD": nil,
		"LABEL": nil,
	}
}

// parse reads a Dockerfile. Values given for arguments take the place of their defaults.
func parse(text string, given map[string]string) (*plan, error) {
	lines, err := instructions(text)
	if err != nil {
		return nil, err
	}
	p := &plan{args: map[string]string{}}
	for k, v := range given {
		if strings.HasSuffix(k, "PLATFORM") { // engines know these without being told
			p.args[k] = v
		}
	}
	for _, in := range lines {
		if err := p.add(in, given); err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", in.line, in.name, err)
		}
	}
	if len(p.stages) == 0 {
		return nil, fmt.Errorf("there is no FROM")
	}
	return p, nil
}

func (p *plan) add(in instruction, given map[string]string) error {
	if in.name == "FROM" {
		words := strings.Fields(expand(in.text, p.args))
		if len(words) != 1 && (len(words) != 3 || !strings.EqualFold(words[1], "AS")) || words[0] == "" {
			return fmt.Errorf("want an image, and AS with a name")
		}
		s := stage{base: words[0]}
		if len(words) == 3 {
			s.name = words[2]
		}
		p.stages = append(p.stages, s)
		return nil
	}
	if len(p.stages) > 0 {
		s := &p.stages[len(p.stages)-1]
		s.does = append(s.does, in)
		return nil
	}
	if in.name != "ARG" {
		return fmt.Errorf("comes before the first FROM")
	}
	name, value := argument(in.text, given)
	p.args[name] = expand(value, p.args)
	return nil
}

// argument is the name of an ARG and its value: the one that was given, or else its default.
func argument(text string, given map[string]string) (name, value string) {
	name, value, _ = strings.Cut(text, "=")
	if v, ok := given[name]; ok {
		value = v
	}
	return name, value
}

// needed lists the stages that the last one, or the one of that name, is made with, in their order.
func (p *plan) needed(target string) ([]int, error) {
	last := len(p.stages) - 1
	if target != "" {
		last = slices.IndexFunc(p.stages, func(s stage) bool { return s.name == target })
		if last < 0 {
			return nil, fmt.Errorf("there is no stage %q", target)
		}
	}
	want := map[int]bool{last: true}
	for i := last; i >= 0; i-- {
		if !want[i] {
			continue
		}
		if from := p.stageBefore(i, p.stages[i].base); from >= 0 {
			want[from] = true
		}
		for _, in := range p.stages[i].does {
			name := in.flag("from")
			if name == "" {
				continue
			}
			from := p.stageBefore(i, name)
			if from < 0 {
				return nil, fmt.Errorf("line %d: no earlier stage is called %q", in.line, name)
			}
			want[from] = true
		}
	}
	var out []int
	for i := range p.stages {
		if want[i] {
			out = append(out, i)
		}
	}
	return out, nil
}

// stageBefore finds the stage of a name before stage i, -1 if there is none.
func (p *plan) stageBefore(i int, name string) int {
	return slices.IndexFunc(p.stages[:i], func(s stage) bool { return s.name != "" && s.name == name })
}

// instructions splits a Dockerfile into its instructions: comments go, lines that end with a backslash are joined.
func instructions(text string) ([]instruction, error) {
	var out []instruction
	var joined strings.Builder
	first := 0
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "#") || trimmed == "" && joined.Len() == 0 {
			continue
		}
		if joined.Len() == 0 {
			first = i + 1
		}
		more := strings.HasSuffix(trimmed, `\`)
		joined.WriteString(strings.TrimSuffix(trimmed, `\`))
		if more {
			continue
		}
		in, err := readInstruction(first, joined.String())
		if err != nil {
			return nil, err
		}
		out = append(out, in)
		joined.Reset()
	}
	if joined.Len() > 0 {
		return nil, fmt.Errorf("line %d: the last line goes on", first)
	}
	return out, nil
}

func readInstruction(line int, text string) (instruction, error) {
	in := instruction{line: line}
	in.name, in.text, _ = strings.Cut(strings.TrimSpace(text), " ")
	in.name, in.text = strings.ToUpper(in.name), strings.TrimSpace(in.text)
	flags, known := allowedFlags()[in.name]
	if !known {
		return in, fmt.Errorf("line %d: instruction %s is not known here", line, in.name)
	}
	for in.name != "CMD" && in.name != "RUN" && strings.HasPrefix(in.text, "--") {
		var f string
		f, in.text, _ = strings.Cut(in.text, " ")
		name, _, _ := strings.Cut(strings.TrimPrefix(f, "--"), "=")
		if !slices.Contains(flags, name) {
			return in, fmt.Errorf("line %d: %s %s is not known here", line, in.name, f)
		}
		in.flags, in.text = append(in.flags, f), strings.TrimSpace(in.text)
	}
	if in.name == "RUN" && (strings.HasPrefix(in.text, "--") || strings.Contains(in.text, "<<")) {
		return in, fmt.Errorf("line %d: flags and here-documents of RUN are not known here", line)
	}
	if in.text == "" {
		return in, fmt.Errorf("line %d: %s says nothing", line, in.name)
	}
	return in, in.readExec()
}

// readExec reads the form that needs no shell, where the instruction may have it.
func (in *instruction) readExec() error {
	text := in.text
	switch in.name {
	case "HEALTHCHECK":
		after, ok := strings.CutPrefix(text, "CMD ")
		if !ok {
			return fmt.Errorf("line %d: want HEALTHCHECK CMD", in.line)
		}
		text = strings.TrimSpace(after)
	case "ENTRYPOINT", "CMD":
	default:
		return nil
	}
	if err := json.Unmarshal([]byte(text), &in.exec); err != nil || len(in.exec) == 0 {
		return fmt.Errorf("line %d: %s wants an array of strings, since there is no shell", in.line, in.name)
	}
	return nil
}
