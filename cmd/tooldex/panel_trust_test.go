package main

import "testing"

// TestPanelApproves has a person look at a tool that turned hostile, in the panel, and approve it.
func TestPanelApproves(t *testing.T) {
	t.Parallel()
	b := chromium(t)
	data := t.TempDir()
	for _, behaviour := range []string{"turning", "turned"} {
		runCommand(t, data, "servers", "add", "--replace", "probe", "--", upstreamCommand(t), behaviour)
	}
	p := b.open(t, serveHTTP(t, data))
	p.view("#/tools?tool=probe%2Ffact")
	p.until(one(".empty", "is held"))
	p.takeFaults() // of the refusals
	p.view("#/servers")
	p.until(one("section h3", "1 tool held"))
	p.until(one(".suspicions dd", "keep something from the user"))
	p.until(one(".changes del", honestFact) + ` && document.querySelector('.changes ins').textContent.includes('~/.ssh/id_rsa')`)
	t.Run("accessibility", func(t *testing.T) {
		checker := axe(t)
		for _, dark := range []bool{false, true} {
			for _, width := range []int{1280, 380} {
				p.look(width, 800, dark)
				p.view("#/servers")
				p.until(one(".suspicions dd", "keep something from the user"))
				p.eval(checker, nil)
				var found []string
				p.eval(`axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations.filter((v) => v.impact === 'serious' || v.impact === 'critical').map((v) => v.id + ': ' + v.help + ' ' + v.nodes[0].html.slice(0, 160)))`, &found)
				var wide int
				p.eval(`document.documentElement.scrollWidth`, &wide)
				if len(found) > 0 || wide > width {
					t.Errorf("%d wide, dark %v: %q; the page is %d wide", width, dark, found, wide)
				}
			}
		}
		p.look(1280, 800, false)
	})
	p.click("button[aria-label='Approve probe/fact']", "Approve")
	p.until(`document.querySelector('#toast').textContent.includes('probe/fact is approved') && document.querySelector('section h3').offsetParent === null`)
	p.view("#/tools?tool=probe%2Ffact")
	p.until(one(".tool-head h2", "fact"))
	if faults := p.takeFaults(); len(faults) > 0 {
		t.Errorf("the browser complains: %q", faults)
	}
}
