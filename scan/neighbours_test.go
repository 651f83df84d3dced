package scan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tooldex/tool"
)

// TestCloseServer compares the look-up by what names are without one byte with a comparison of all names.
func TestCloseServer(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 5))
	var folded []string
	var tools []*tool.Tool
	for i := range 400 {
		name := []byte("github")
		for range random.IntN(3) {
			name[random.IntN(len(name))] = "ghitub1"[random.IntN(7)]
		}
		server := string(name[:4+random.IntN(3)]) + []string{"", "server", "mail7", "s"}[random.IntN(4)]
		tools = append(tools, &tool.Tool{Server: server, Name: fmt.Sprint("tool", i)})
		folded = append(folded, tool.Fold(server))
	}
	slices.Sort(folded)
	n := newNeighbours(tools[:200])
	n.add(tools[200:])
	found := 0
	for _, server := range folded {
		want := ""
		if len(server) >= 6 {
			for _, other := range folded {
				if other != server && digitsOf(other) == digitsOf(server) && isSlip(server, other) {
					want = other
					break
				}
			}
		}
		if want != "" {
			found++
		}
		if got := n.closeServer(server); got != want {
			t.Errorf("closest to %s is %q, want %q", server, got, want)
		}
	}
	if found < 20 {
		t.Errorf("only %d names have a close one: the test compares little", found)
	}
}

// TestAdd shows that tools that were added later count as those that New got.
func TestAdd(t *testing.T) {
	mail := &tool.Tool{Server: "mail", Name: "send_email_now"}
	s := New(nil)
	s.Add([]*tool.Tool{mail})
	found := s.Tool(&tool.Tool{Server: "other", Name: "send_emial_now"})
	if !slices.ContainsFunc(found, func(f Finding) bool { return f.Rule == "similar" }) {
		t.Errorf("found %v, want a similar name", found)
	}
	if found := s.Tool(mail); len(found) > 0 {
		t.Errorf("the tool itself is found to be %v", found)
	}
}
