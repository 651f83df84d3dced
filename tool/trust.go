package tool

// heldTool is a tool that a set knows and keeps back.
type heldTool struct {
	tool    *Tool
	exposed string
	why     string
}

// Withhold returns the set without the tools for which why gives a reason, the others under the names that they have in
// s. A held tool is as if it did not exist, except that Resolve returns the reason to callers that name it.
func (s *Set) Withhold(why func(*Tool) string) *Set {
	var held []heldTool
	is := map[*Tool]bool{}
	for i, t := range s.tools {
		if reason := why(t); reason != "" {
			held = append(held, heldTool{t, s.exposed[i], reason})
			is[t] = true
		}
	}
	if len(held) == 0 {
		return s
	}
	out := s.Subset(func(t *Tool) *Tool {
		if is[t] {
			return nil
		}
		return t
	})
	out.held = append(out.held, held...)
	return out
}

// heldError returns the error for a name that spells a tool which is held, nil if it spells none.
func (s *Set) heldError(name string) error {
	key := Fold(name)
	for _, h := range s.held {
		plain := Fold(h.tool.Name)
		if name == h.exposed || name == string(h.tool.ID()) || key == plain || key == Fold(h.tool.Server)+plain ||
			key == "mcp"+Fold(h.tool.Server)+plain {
			return h.error()
		}
	}
	return nil
}

// CheckHeld returns the Denied error that answers a call of a tool which is held, nil if it is not. Nothing that the
// tool says of itself is in the error: a model reads it.
func (s *Set) CheckHeld(id ID) error {
	for _, h := range s.held {
		if h.tool.ID() == id {
			return h.error()
		}
	}
	return nil
}

// error is what a call of the tool is answered with.
func (h *heldTool) error() error {
	return &Error{
		Code: Denied, Op: "resolve", Msg: "tool " + quoteName(string(h.tool.ID())) + " is held: " + h.why,
		Hint: `it cannot be used until the person who runs tooldex has looked at it ("tooldex servers review") and approved it; do not try to get around this`,
	}
}
