package eval

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"tooldex/tool"
)

// ReadReport reads a report as encoding/json writes it, alone or under "report" beside a comparison. File is what
// errors call it. What is no such report is Invalid: one with a figure that is no number from 0 to 1, with a request
// twice, or without a single figure.
//
// What was found for each request is not in a report, so Answers gives empty rankings; the plots of WriteHTML that need
// more than figures are left out.
func ReadReport(r io.Reader, file string) (*Report, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxReport+1))
	if err != nil {
		return nil, badReport(file, "cannot be read", err)
	}
	if len(b) > maxReport {
		return nil, badReport(file, "is longer than 256 MiB", nil)
	}
	var wrapped struct {
		Report *Report `json:"report"`
	}
	out := &Report{}
	if err = json.Unmarshal(b, &wrapped); err == nil && wrapped.Report != nil {
		out = wrapped.Report
	} else if err = json.Unmarshal(b, out); err != nil {
		return nil, badReport(file, "is not JSON of a report", err)
	}
	if err := out.checkReport(); err != nil {
		return nil, badReport(file, err.Error(), nil)
	}
	slices.SortFunc(out.Kinds, func(a, b Summary) int { return cmp.Compare(a.Kind, b.Kind) })
	return out, nil
}

// maxReport bounds the bytes of a file that is read.
const maxReport = 256 << 20

// badReport returns the Invalid error of a file that is not a report.
func badReport(file, what string, err error) error {
	return &tool.Error{
		Code: tool.Invalid, Op: "read report", Msg: "report " + file + " " + what, Err: err,
		Hint: "tooldex eval -o json writes one, and with --cases one that can be compared",
	}
}

// checkReport returns an error if r cannot be the report of a run, so that comparisons need no checks of their own.
func (r *Report) checkReport() error {
	if len(r.All.Scores) == 0 && r.NoMatch == nil {
		return errors.New("has no figures")
	}
	if r.Depth < 1 {
		return errors.New("does not say how deep it ranks")
	}
	for _, s := range append([]Summary{r.All}, r.Kinds...) {
		if err := s.Scores.checkScores(); err != nil {
			return err
		}
	}
	seen := make(map[string]bool, len(r.Cases))
	for i := range r.Cases {
		o := &r.Cases[i]
		if seen[o.ID] {
			return fmt.Errorf("has request %q twice", o.ID)
		}
		seen[o.ID] = true
		if o.Rank < 0 || !o.NoMatch && len(o.Scores) == 0 {
			return fmt.Errorf("has no scores for request %q", o.ID)
		}
		if err := o.Scores.checkScores(); err != nil {
			return err
		}
	}
	return nil
}

// checkScores returns an error for a score that is no number from 0 to 1.
func (s Scores) checkScores() error {
	for m, v := range s {
		if !(v >= 0 && v <= 1+rounding) || math.IsInf(v, 0) {
			return fmt.Errorf("gives %s as %v", m, v)
		}
	}
	return nil
}
