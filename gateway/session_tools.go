package gateway

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tooldex/tool"
)

// capabilitySet is what a server knows that it may ask of a client. Many servers list further tools to a client that
// can be asked.
type capabilitySet uint8

const (
	canSample capabilitySet = 1 << iota
	canElicit
	canListRoots
)

// capabilitySetOf returns the set of what a session announced.
func capabilitySetOf(told *mcp.ClientCapabilities) capabilitySet {
	var out capabilitySet
	if told.Sampling != nil {
		out |= canSample
	}
	if told.Elicitation != nil {
		out |= canElicit
	}
	if told.RootsV2 != nil {
		out |= canListRoots
	}
	return out
}

// updateNeeds applies a listing, on a session that announced has, to needs: the least that a session announced which
// was shown a tool, by the tool's name. It returns the new needs, and the names of the tools that this session is not
// shown although they may exist. A tool that is missing although the session announced all that showed it is gone.
func updateNeeds(needs map[string]capabilitySet, has capabilitySet, listed []*tool.Tool) (
	out map[string]capabilitySet, hidden []string,
) {
	out = make(map[string]capabilitySet, len(listed))
	for _, t := range listed {
		need, known := needs[t.Name]
		if !known || has&^need == 0 {
			need = has
		}
		out[t.Name] = need
	}
	for name, need := range needs {
		if _, shown := out[name]; !shown && need&^has != 0 {
			out[name] = need
			hidden = append(hidden, name)
		}
	}
	slices.Sort(hidden)
	return out, hidden
}

// recordListed updates the stored needs by a listing, and returns the names of the tools that the session is not shown.
// A failure is logged: the tools of other sessions may be lost then.
func (u *Upstream) recordListed(s *session, listed []*tool.Tool) (hidden []string) {
	u.listing.Lock()
	defer u.listing.Unlock()
	before, err := u.loadNeeds()
	if err == nil {
		u.needs, hidden = updateNeeds(before, capabilitySetOf(s.told), listed)
		if !maps.Equal(before, u.needs) {
			err = u.saveNeeds()
		}
	}
	if err != nil {
		u.logger.Warn("which sessions are shown which tools could not be stored", "error", err)
	}
	return hidden
}

// needsFile returns where needs are stored, "" if nothing is.
func (u *Upstream) needsFile() string {
	if u.opts.Dir == "" {
		return ""
	}
	return filepath.Join(u.opts.Dir, "listed", featureFileName(u.cfg.Name))
}

// loadNeeds returns the needs as this process or another has stored them last.
func (u *Upstream) loadNeeds() (map[string]capabilitySet, error) {
	file := u.needsFile()
	if file == "" {
		return u.needs, nil
	}
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out map[string]capabilitySet
	if err == nil && json.Unmarshal(b, &out) != nil {
		out = nil // it is written anew
	}
	return out, err
}

// saveNeeds stores the needs.
func (u *Upstream) saveNeeds() error {
	file := u.needsFile()
	if file == "" {
		return nil
	}
	b, err := json.Marshal(u.needs)
	if err != nil {
		return err
	}
	return replaceFile(file, b)
}
