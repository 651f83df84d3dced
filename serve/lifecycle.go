package serve

import (
	"cmp"
	"context"
	"log/slog"
	"strings"

	"tooldex/access"
	"tooldex/config"
)

// anyLevel writes records of all levels.
type anyLevel struct{ slog.Handler }

// Enabled implements slog.Handler.
func (anyLevel) Enabled(context.Context, slog.Level) bool { return true }

// logLifecycle logs a start, a stop or a reload. A log in JSON, which programs read, has these at every level: nothing
// else is printed there.
func (s *server) logLifecycle(msg string, args ...any) {
	logger := s.o.Logger
	if s.o.Config.Config().LogFormat == config.LogJSON {
		logger = slog.New(anyLevel{logger.Handler()})
	}
	logger.Info(msg, args...)
}

// logStart logs what serves where, once clients can connect. The address is "", and the gate nil, without HTTP.
func (s *server) logStart(address string, gate *access.Gate) {
	path, _ := s.o.Config.Path()
	if !s.o.Config.FileFound() {
		path = ""
	}
	args := []any{
		"version", s.o.Version, "config", cmp.Or(path, "none"), "data", s.home.service.Dir(), "stdio", s.o.Stdin != nil,
		"profile", s.o.Config.Config().Serve.Profile,
	}
	if gate != nil {
		args = append(args, "address", "http://"+address, "tokens", cmp.Or(strings.Join(gate.Kinds(), ", "), "none"))
	}
	s.logLifecycle("started", args...)
}
