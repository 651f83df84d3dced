package httpapi

import (
	"context"

	"github.com/labstack/echo/v4"

	"tooldex/scan"
	"tooldex/tool"
)

// Quarantine keeps the tools that a person should review before they are used. Its methods are safe for concurrent use.
// *catalog.Catalog is one.
type Quarantine interface {
	// Review lists them, those that are held first.
	Review() []scan.Review
	// Accept approves tools in the forms that were reviewed. When it returns nil, the approvals are durable. The error
	// wraps tool.ErrConflict if a tool has changed since, and is NotFound for an unknown tool; nothing is approved
	// then.
	Accept(ctx context.Context, approvals []scan.Approval) error
}

// ReviewList lists what needs a review.
type ReviewList struct {
	Tools []scan.Review `json:"tools" jsonschema:"those that are held first"`
}

// approveRequest is the body of an approval.
type approveRequest struct {
	Tools []scan.Approval `json:"tools" jsonschema:"each with the form that was shown"`
}

const quarantinePath = "/api/quarantine"

// maxApprovals bounds how many tools one request approves.
const maxApprovals = 10_000

// listQuarantine answers GET /api/quarantine.
func (s *Server) listQuarantine(c echo.Context) error {
	if err := readQuery(c).done(); err != nil {
		return err
	}
	out := ReviewList{Tools: []scan.Review{}}
	if s.o.Quarantine != nil {
		out.Tools = orEmpty(s.o.Quarantine.Review())
	}
	return writeJSON(c, out)
}

// approveTools answers POST /api/quarantine/approve with what is left to review.
func (s *Server) approveTools(c echo.Context) error {
	var r approveRequest
	if err := readBody(c, &r); err != nil {
		return err
	}
	if len(r.Tools) == 0 || len(r.Tools) > maxApprovals {
		return invalidField("tools", "does not name a tool, or too many")
	}
	for _, a := range r.Tools {
		if a.Form == "" {
			return invalidField("tools", "does not say of "+string(a.ID)+" which form was looked at")
		}
	}
	if s.o.Quarantine == nil {
		return &tool.Error{Code: tool.Denied, Op: "approve", Msg: "approvals are not available here"}
	}
	if err := s.o.Quarantine.Accept(c.Request().Context(), r.Tools); err != nil {
		return err
	}
	return writeJSON(c, ReviewList{orEmpty(s.o.Quarantine.Review())})
}
