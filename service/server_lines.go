package service

import (
	"maps"
	"slices"
	"time"

	"tooldex/config"
	"tooldex/gateway"
	"tooldex/upstream"
)

// ServerLine is a server as it is listed for people. Values that may be secret are left out.
type ServerLine struct {
	Name      string             `json:"name"`
	Transport upstream.Transport `json:"transport"`
	Target    string             `json:"target"` // the command line or the url, as configured
	Tools     int                `json:"tools"`
	State     upstream.State     `json:"state,omitempty"`    // as serving processes report it, or the last import
	Error     string             `json:"error,omitempty"`    // why the server failed
	FailedAt  *time.Time         `json:"failedAt,omitempty"` // when
	Disabled  bool               `json:"disabled,omitempty"`
	// what it may reach; nil for an ordinary process
	Isolate *upstream.Isolation `json:"isolate,omitempty"`
}

// Failure says why and when the server failed, "" if it did not.
func (l ServerLine) Failure() string {
	if l.Error == "" || l.FailedAt == nil {
		return l.Error
	}
	return l.FailedAt.Local().Format(time.DateTime) + ": " + l.Error
}

// ServerLines lists the configured servers by name, then those whose tools came from a file. The caller owns the slice.
func (s *Service) ServerLines() []ServerLine {
	status := ReadStatusNotes(StatusDir(s.dir))
	tools := map[string]int{}
	for _, t := range s.Catalog.Set().All() { // disabled ones too
		tools[t.Server]++
	}
	out := []ServerLine{}
	for _, one := range s.Servers() {
		l := ServerLine{
			Name: one.Name, Transport: one.ReachedBy(), Target: config.ServerTarget(one), Tools: tools[one.Name],
			Disabled: one.Disabled, Isolate: one.Isolate,
		}
		if !one.Disabled {
			l.setState(status[one.Name], s.UpstreamDir())
		}
		out = append(out, l)
		delete(tools, one.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		out = append(out, ServerLine{
			Name: name, Transport: "file", Target: "imported from a file; not callable",
			Tools: tools[name],
		})
	}
	return out
}

// setState sets the state from what serving processes note, and else from the last import.
func (l *ServerLine) setState(noted upstream.Status, dir string) {
	switch noted.State {
	case upstream.Starting, upstream.Installing, upstream.Running, upstream.Failed:
	default:
		if last, failed := gateway.LastFailure(dir, l.Name); failed {
			noted = last
		} else if noted.State = upstream.Configured; l.Tools > 0 {
			noted.State = upstream.Known
		}
	}
	l.State, l.Error, l.FailedAt = noted.State, noted.Error, noted.FailedAt
}
