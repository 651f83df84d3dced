package config

import (
	"io"
	"log/slog"
)

// LogJSON is the LogFormat that writes one JSON object for each line.
const LogJSON = "json"

// LogHandler returns what writes the log to w in the configured format, from a level on. The level is not c.LogLevel,
// which may change while the log is open.
func (c *Config) LogHandler(w io.Writer, level slog.Leveler) slog.Handler {
	o := &slog.HandlerOptions{Level: level}
	if c.LogFormat == LogJSON {
		return slog.NewJSONHandler(w, o)
	}
	return slog.NewTextHandler(w, o)
}
