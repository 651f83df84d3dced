package audit

import (
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"tooldex/tool"
)

// syslogEvery is how often an anchor is sent at the most, and how long a failed attempt waits for the next one.
// syslogGrace is how long Close waits for the last.
const (
	syslogEvery = time.Second
	syslogGrace = time.Second
)

// CheckSyslog returns an Invalid error for an address that Options.Syslog cannot have.
func CheckSyslog(address string) error {
	_, _, err := parseSyslog(address)
	return err
}

// parseSyslog returns the network and the address to dial; both are empty for the system's own.
func parseSyslog(text string) (network, address string, err error) {
	if text == "" || text == "local" {
		return "", "", supportsSyslog(text)
	}
	u, err := url.Parse(text)
	switch {
	case err == nil && (u.Scheme == "udp" || u.Scheme == "tcp") && u.Port() != "" && u.Path == "":
		return u.Scheme, u.Host, supportsSyslog(text)
	case err == nil && u.Scheme == "unix" && u.Host == "" && u.Path != "":
		return "unix", u.Path, supportsSyslog(text)
	}
	return "", "", &tool.Error{
		Code: tool.Invalid, Op: "audit", Msg: fmt.Sprintf("audit.syslog cannot be %q", text),
		Hint: "write local, udp://HOST:514, tcp://HOST:514 or unix:///PATH",
	}
}

// syslogSender sends the anchor of the last record to a syslog server, at most once every syslogEvery. Nobody waits for
// it: while the server is away, records are written all the same, and the newest anchor is sent when it is back.
type syslogSender struct {
	address, dir string
	logger       *slog.Logger
	dial         func(network, address string) (io.WriteCloser, error)

	mu     sync.Mutex
	latest Anchor

	wake chan struct{} // holds one value while an anchor waits
	quit chan struct{}
	done chan struct{}
}

// startSyslog returns a sender, which close ends.
func startSyslog(address, dir string, logger *slog.Logger) *syslogSender {
	s := &syslogSender{
		address: address, dir: dir, logger: logger, dial: dialSyslog,
		wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
	}
	go s.run()
	return s
}

// note has an anchor sent soon, unless a newer one comes before. It does not block.
func (s *syslogSender) note(a Anchor) {
	s.mu.Lock()
	s.latest = a
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// close sends what still waits, and returns when that is done or syslogGrace is over.
func (s *syslogSender) close() {
	close(s.quit)
	select {
	case <-s.done:
	case <-time.After(syslogGrace):
	}
}

// run sends anchors until close.
func (s *syslogSender) run() {
	defer close(s.done)
	var to io.WriteCloser
	away := false
	defer func() {
		if to != nil {
			_ = to.Close() // what it was sent needs no end
		}
	}()
	for ended := false; !ended; {
		select {
		case <-s.wake:
		case <-s.quit:
			ended = true
			select {
			case <-s.wake:
			default:
				return
			}
		}
		err := s.send(&to)
		switch {
		case err != nil && !away:
			s.logger.Warn("the anchor of the audit log cannot be sent to syslog; this is tried again", "syslog", s.address, "error", err)
		case err == nil && away:
			s.logger.Warn("the anchor of the audit log is sent to syslog again", "syslog", s.address)
		}
		if away = err != nil; away {
			select {
			case s.wake <- struct{}{}: // it still waits
			default:
			}
		}
		select {
		case <-time.After(syslogEvery):
		case <-s.quit:
		}
	}
}

// send sends the newest anchor. It dials again after an error.
func (s *syslogSender) send(to *io.WriteCloser) error {
	if *to == nil {
		network, address, err := parseSyslog(s.address)
		if err != nil {
			return err
		}
		if *to, err = s.dial(network, address); err != nil {
			*to = nil
			return err
		}
	}
	s.mu.Lock()
	a := s.latest
	s.mu.Unlock()
	if _, err := fmt.Fprintf(*to, "audit anchor %s of %q", a, s.dir); err != nil {
		_ = (*to).Close() // it is broken
		*to = nil
		return err
	}
	return nil
}
