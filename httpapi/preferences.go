package httpapi

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"tooldex/selection"
	"tooldex/tool"
)

// Preferences keeps the preferences of profiles. It is safe for concurrent use.
type Preferences interface {
	// Preferences returns a profile's preferences and their version, which is zero if there never were any. An error of
	// code NotFound means that the profile does not exist.
	Preferences(ctx context.Context, profile string) (selection.Preferences, uint64, error)
	// SetPreferences checks preferences and replaces those of version base. When it returns, what it returns is
	// durable. The error wraps tool.ErrConflict if the current version is another, and is of code Invalid for wrong
	// preferences.
	SetPreferences(ctx context.Context, profile string, base uint64, p selection.Preferences) (selection.Preferences,
		uint64,
		error)
}

const preferencesPath = "/api/tools/preferences"

var profileParams = []param{{name: "profile", text: "whose preferences; those for all tools if left out"}}

var putPreferencesParams = append([]param{
	{name: "If-Match", in: "header", text: "the ETag of the version to replace; if the current version is another, the answer is 412. If left out, any version is replaced"},
}, profileParams...)

// getPreferences answers GET /api/preferences. The ETag is the version.
func (s *Server) getPreferences(c echo.Context) error {
	profile, err := s.preferenceProfile(c)
	if err != nil {
		return err
	}
	p, version, err := s.o.Preferences.Preferences(c.Request().Context(), profile)
	if err != nil {
		return err
	}
	c.Response().Header().Set(headerETag, formatTag(version))
	return writeJSON(c, p)
}

// putPreferences answers PUT /api/preferences. With If-Match it replaces only that version.
func (s *Server) putPreferences(c echo.Context) error {
	profile, err := s.preferenceProfile(c)
	if err != nil {
		return err
	}
	var p selection.Preferences
	if err := readBody(c, &p); err != nil {
		return err
	}
	base, conditional, err := parseCondition(c.Request().Header.Get("If-Match"))
	if err != nil {
		return err
	}
	kept, version, err := s.replacePreferences(c.Request().Context(), profile, base, conditional, p)
	if err != nil {
		return err
	}
	c.Response().Header().Set(headerETag, formatTag(version))
	return writeJSON(c, kept)
}

// preferenceProfile returns whose preferences a request is about.
func (s *Server) preferenceProfile(c echo.Context) (string, error) {
	v := readQuery(c)
	asked := v.text("profile")
	if err := v.done(); err != nil {
		return "", err
	}
	if s.o.Preferences == nil {
		return "", &tool.Error{Code: tool.NotFound, Op: "preferences", Msg: "preferences are not available here"}
	}
	return s.profileOf(asked)
}

// replacePreferences stores preferences; without a condition it replaces what is stored, and tries again if that
// changes meanwhile.
func (s *Server) replacePreferences(ctx context.Context, profile string, base uint64, conditional bool,
	p selection.Preferences,
) (kept selection.Preferences, version uint64, err error) {
	const tries = 10
	for range tries {
		if !conditional {
			if _, base, err = s.o.Preferences.Preferences(ctx, profile); err != nil {
				return kept, 0, err
			}
		}
		kept, version, err = s.o.Preferences.SetPreferences(ctx, profile, base, p)
		if conditional || !errors.Is(err, tool.ErrConflict) {
			break
		}
	}
	return kept, version, err
}

// formatTag returns the entity tag of a version.
func formatTag(version uint64) string { return strconv.Quote(strconv.FormatUint(version, 10)) }

// parseCondition reads an If-Match header with one of our tags. No header, and *, are no condition; a foreign tag
// matches nothing.
func parseCondition(header string) (base uint64, conditional bool, err error) {
	header = strings.TrimSpace(header)
	if header == "" || header == "*" {
		return 0, false, nil
	}
	text, quoted := strings.CutPrefix(header, `"`)
	text, closed := strings.CutSuffix(text, `"`)
	base, err = strconv.ParseUint(text, 10, 64)
	if err != nil || !quoted || !closed {
		return 0, true, tool.ErrConflict
	}
	return base, true, nil
}
