package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"tooldex/store"
	"tooldex/tool"
)

// isChanged reports whether an error says that somebody else changed the state, and so that the database works.
func isChanged(err error) bool { return errors.Is(err, store.ErrChanged) }

// explain turns an error of the driver into one with a code and a hint. It returns nil and errors that have one as they
// are.
func (s *Store) explain(op string, err error) error {
	var own *tool.Error
	var refused *pgconn.PgError
	var connecting *pgconn.ConnectError
	switch {
	case err == nil || errors.As(err, &own):
		return err
	case errors.As(err, &refused):
		return s.explainRefusal(op, refused)
	case errors.As(err, &connecting): // also when it took too long, which ends a context of the driver
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &tool.Error{Code: tool.Timeout, Op: op, Msg: "gave up waiting for " + s.location, Hint: "try again", Err: err}
	}
	return &tool.Error{
		Code: tool.Unavailable, Op: op, Msg: "the database at " + s.location + " cannot be reached",
		Hint: "see that it runs, and that its address is right", Err: err,
	}
}

// explainRefusal explains an error that the server sent. Classes of codes are in appendix A of PostgreSQL's manual.
func (s *Store) explainRefusal(op string, e *pgconn.PgError) error {
	out := &tool.Error{Code: tool.Internal, Op: op, Msg: "the database at " + s.location + " refuses", Err: e}
	switch class := e.Code[:min(2, len(e.Code))]; {
	case e.Code == "57014": // query_canceled
		out.Code, out.Msg, out.Hint = tool.Timeout, "gave up waiting for "+s.location, "try again"
	case class == "28", e.Code == "42501", e.Code == "3D000":
		out.Hint = "see the role, its password, its rights and the name of the database"
	case e.Code == "22021", e.Code == "22P05", e.Code == "54000": // bytes that are no text; a key that is too long
		out.Code, out.Msg = tool.Invalid, "a name cannot be stored in the database"
	case e.Code == "25006":
		out.Code, out.Hint = tool.Unavailable, "this server only reads, as a standby does; connect to the primary"
	case class == "08", class == "40", class == "53", strings.HasPrefix(e.Code, "57P"):
		out.Code, out.Hint = tool.Unavailable, "try again"
	}
	return out
}
