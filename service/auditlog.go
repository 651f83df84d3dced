package service

import (
	"cmp"
	"path/filepath"
	"time"

	"tooldex/audit"
	"tooldex/config"
)

// AuditDir returns the folder of the audit log: the configured one, or audit in the data directory.
func AuditDir(c *config.Config) string { return cmp.Or(c.Audit.Dir, filepath.Join(c.DataDir, "audit")) }

// NewAuditLog returns the audit log that the configuration describes, whether or not Audit.On is set. All options but
// Catalog and Logger are replaced by settings: Audit.Size is in megabytes, Audit.Days in days.
func NewAuditLog(c *config.Config, o audit.Options) *audit.Log {
	o.Dir, o.Sync, o.MaxFiles = AuditDir(c), audit.Sync(c.Audit.Sync), c.Audit.Files
	o.MaxSize, o.MaxAge = int64(c.Audit.Size)*1_000_000, time.Duration(c.Audit.Days)*24*time.Hour
	o.Required, o.Arguments, o.Anchor, o.Syslog = c.Audit.Required, c.Audit.Arguments, c.Audit.Anchor, c.Audit.Syslog
	return audit.New(o)
}
