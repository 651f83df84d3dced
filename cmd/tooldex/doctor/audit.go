package doctor

import (
	"context"
	"errors"

	"tooldex/audit"
	"tooldex/service"
)

// checkAudit verifies the record of calls, and probes whether more can be written to it.
func (d *doctor) checkAudit(ctx context.Context) {
	dir := service.AuditDir(d.currentConfig())
	if !d.currentConfig().Audit.On || d.o.Demo && d.currentConfig().Audit.Dir == "" {
		d.addFinding(Note, "audit", "", "", "calls are not recorded")
		return
	}
	l := service.NewAuditLog(d.currentConfig(), audit.Options{Logger: d.o.Logger})
	r, err := audit.Verify(ctx, dir)
	switch {
	case err != nil:
		d.addFinding(Broken, "audit", dir, "see that you may read the folder, or name another with TOOLDEX_AUDIT_DIR",
			"the record of calls cannot be read: %v", causeOf(err))
		return
	case !r.OK():
		d.addFinding(Warn, "audit", dir,
			"tooldex audit verify names each place; move the folder away to begin a new record",
			"the record of calls is not as it was written: %s", r.Breaks[0])
	case r.Head == nil:
		d.addFine("audit", dir, "no call is recorded yet")
	default:
		d.addFine("audit", dir, "%s, unchanged", Count(r.Records, "record"))
	}
	if err := errors.Join(l.Probe(), l.Close()); err != nil {
		d.addError("audit", dir, err)
	}
}
