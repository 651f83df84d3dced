package mcpsrv

import (
	"context"
	"log/slog"
	"strings"
)

// sdkLog passes on what the SDK logs. It drops the SDK's report of every session and request. Nearly all of its
// warnings and errors are about mistakes of clients, or clients that went away, of which any number can come: they are
// passed on as Debug.
type sdkLog struct{ slog.Handler }

// ownFaults begin the messages of the SDK that are not about clients.
var ownFaults = [...]string{"jsonrpc2 internal error", "AddTool", "failed to connect", "excluding"}

// Enabled implements slog.Handler.
func (l sdkLog) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && l.Handler.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (l sdkLog) Handle(ctx context.Context, r slog.Record) error {
	for _, begin := range ownFaults {
		if strings.HasPrefix(r.Message, begin) {
			return l.Handler.Handle(ctx, r)
		}
	}
	if !l.Handler.Enabled(ctx, slog.LevelDebug) {
		return nil
	}
	r.Level = slog.LevelDebug
	return l.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (l sdkLog) WithAttrs(attrs []slog.Attr) slog.Handler { return sdkLog{l.Handler.WithAttrs(attrs)} }

// WithGroup implements slog.Handler.
func (l sdkLog) WithGroup(name string) slog.Handler { return sdkLog{l.Handler.WithGroup(name)} }
