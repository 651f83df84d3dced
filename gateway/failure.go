package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"tooldex/tool"
	"tooldex/upstream"
)

// failedFile returns the file in which it is kept why a server's tools could not be read last, "" if nothing is kept.
func failedFile(dir, server string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "failed", featureFileName(server))
}

// LastFailure returns why the tools of a server could not be read last, as kept in dir, which is Options.Dir; false if
// they could, or were never asked for. Only Server, State, Error and FailedAt of the status are set.
func LastFailure(dir, server string) (upstream.Status, bool) {
	var st upstream.Status
	b, err := os.ReadFile(failedFile(dir, server))
	if err != nil || json.Unmarshal(b, &st) != nil || st.Error == "" || st.FailedAt == nil {
		return upstream.Status{}, false
	}
	st.Server, st.State = server, upstream.Failed
	return st, true
}

// recordListing keeps why a listing failed, or that it did not. A caller that left, or a server that is being removed,
// is no failure of the server.
func (u *Upstream) recordListing(ctx context.Context, err error) {
	file := failedFile(u.opts.Dir, u.cfg.Name)
	if file == "" || ctx.Err() != nil || u.ctx.Err() != nil {
		return
	}
	if err == nil {
		err = os.Remove(file)
	} else {
		now := time.Now().UTC().Truncate(time.Second)
		var b []byte
		if b, err = json.Marshal(upstream.Status{Server: u.cfg.Name, Error: errorText(err), FailedAt: &now}); err == nil {
			err = replaceFile(file, b)
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		u.logger.Warn("the result of a listing could not be kept", "error", err)
	}
}

// errorText is the text of an error for the status, at most about 500 bytes: what happened, without the operation.
func errorText(err error) string {
	text := err.Error()
	if e := (*tool.Error)(nil); errors.As(err, &e) {
		plain := *e
		plain.Op = ""
		text = plain.Error()
	}
	return truncateText(text, 500)
}
