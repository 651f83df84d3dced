package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// hint tells somebody who looks at the demo how to let a client use it, and how to go on.
func (s *stack) hint(a *app) {
	if !s.demo {
		return
	}
	program, err := os.Executable()
	if err != nil || strings.Contains(program, "go-build") { // "go run" removes what it built
		program = filepath.Join("bin", "tooldex")
	}
	fmt.Fprintf(a.stdout, `
These are the tools of the demo. To let an agent search them, give its client this server:
  claude mcp add tooldex -- %[1]s serve --demo
or, in any mcpServers configuration:
  {"mcpServers": {"tooldex": {"command": %[1]q, "args": ["serve", "--demo"]}}}
For the servers of your own clients: %[1]s servers import, and serve without --demo.
`, program)
}
