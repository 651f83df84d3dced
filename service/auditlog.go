package service

import (
	"cmp"
	"path/filepath"
	"time"

	"tooldex/audit"
	"tooldex/config"
)

// AuditDir returns where calls are recorded.
func AuditDir(c *config.Config) string { return cmp.Or(c.Audit.Dir, filepath.Join(c.DataDir, "audit")) }

// NewAuditLog returns the record of calls that the configuration describes; it does not look at Audit.On. Catalog and
// Logger are those of o.
func NewAuditLog(c *config.Config, o audit.Options) *audit.Log {
	o.Dir, o.Sync, o.MaxFiles = AuditDir(c), audit.Sync(c.Audit.Sync), c.Audit.Files
	o.MaxSize, o.MaxAge = int64(c.Audit.Size)*1_000_000, time.Duration(c.Audit.Days)*24*time.Hour
	o.Required, o.Arguments = c.Audit.Required, c.Audit.Arguments
	return audit.New(o)
}
