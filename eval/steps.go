package eval

import (
	"errors"
	"fmt"
	"strings"

	"tooldex/tool"
)

// rawStep is a step of a task as a file has it.
type rawStep struct {
	Tools []string `json:"tools" yaml:"tools"` // one of them is enough
	Query string   `json:"query" yaml:"query"` // "" where only the whole task is put
}

// readSteps fills AllOf and Steps of c from the steps of a task. Nothing else may say which tools the task needs, since
// the two could contradict each other. Either every step has a request or none has: steps@k would otherwise mean
// something else from task to task.
func (r *caseReader) readSteps(c *Case, raw *rawCase) error {
	if raw.Relevant != nil || raw.AllOf != nil || raw.Grades != nil || raw.Mode != "" {
		return &tool.Error{
			Msg:  "steps cannot be combined with relevant, all_of, mode or grades",
			Hint: "steps says which tools are wanted; leave the others out",
		}
	}
	if len(raw.Steps) == 0 {
		return errors.New("steps is empty")
	}
	for k, step := range raw.Steps {
		names, err := r.resolveLabels(step.Tools)
		if err != nil {
			return err
		}
		if len(names) == 0 {
			return &tool.Error{
				Msg:  fmt.Sprintf("step %d names no tools", k+1),
				Hint: `write a step as {"tools": ["NAME"], "query": "what is asked for"}`,
			}
		}
		c.AllOf = append(c.AllOf, names)
		if strings.TrimSpace(step.Query) != "" {
			c.Steps = append(c.Steps, step.Query)
		}
	}
	if n := len(c.Steps); n > 0 && n < len(c.AllOf) {
		return &tool.Error{
			Msg:  fmt.Sprintf("%d of %d steps have a query", n, len(c.AllOf)),
			Hint: "give every step a query, or none",
		}
	}
	return nil
}
