package doctor

import (
	"fmt"

	"tooldex/service"
	"tooldex/trust"
)

// checkTrust reports tools that are held or suspicious, or that nothing is scanned.
func (d *doctor) checkTrust(s *service.Service) {
	if s.Trust().Policy == trust.Off {
		d.addFinding(Note, "trust", "", "trust.policy: warn watches for tools that become hostile",
			"descriptions of tools are not checked for attacks")
		return
	}
	var held, warned []string
	for _, r := range s.Catalog.Review() {
		line := fmt.Sprintf("%s: %s", r.Label(), r.Why)
		if r.Held {
			held = append(held, line)
		} else {
			warned = append(warned, line)
		}
	}
	if len(held)+len(warned) == 0 {
		d.addFine("trust", "", "no tool is held, and none looks suspicious")
		return
	}
	d.addGroup(Warn, "trust", "tooldex servers review shows what was found and changed; "+
		"tooldex servers approve takes a tool back into service", held,
		"1 tool is held until somebody approves it", "%d tools are held until somebody approves them")
	d.addGroup(Note, "trust", "tooldex servers review shows what was found; "+
		"tooldex servers approve SERVER --all ends the warning", warned,
		"1 tool looks suspicious, and is served with a warning",
		"%d tools look suspicious, and are served with a warning")
}
