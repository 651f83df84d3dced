package eval

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// answered makes a report of answers with one tool each, right or wrong, at a score.
func answered(t *testing.T, answers ...Ranked) *Report {
	t.Helper()
	d := &Dataset{}
	var run []Answer
	for i, r := range answers {
		id := fmt.Sprint(i)
		c := Case{ID: id, Relevant: []string{"right"}}
		if r.Name == "none" {
			c.Relevant = nil
		}
		d.Cases = append(d.Cases, c)
		run = append(run, Answer{ID: id, Ranked: []Ranked{r}})
	}
	r, err := Score(d, run, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCalibration(t *testing.T) {
	r := answered(t,
		Ranked{Name: "right", Score: .9}, Ranked{Name: "right", Score: 1}, Ranked{Name: "wrong", Score: .95},
		Ranked{Name: "right", Score: .95},
		Ranked{Name: "wrong", Score: .32}, Ranked{Name: "right", Score: .38}, Ranked{Name: "none", Score: .3},
		Ranked{Name: "none", Score: 0},
	)
	// Last bin: mean score .95, three of four right; fourth: mean 1/3, one of three; first: 0 and none.
	// Error: (4 * .2 + 3 * 0 + 1 * 0) / 8 = .1.
	want := &Calibration{Answers: 8, Error: .1, Bins: []Bin{
		{From: 0, To: .1, Answers: 1},
		{From: .3, To: .4, Answers: 3, Score: 1. / 3, Right: 1. / 3},
		{From: .9, To: 1, Answers: 4, Score: .95, Right: .75},
	}}
	if diff := cmp.Diff(want, r.Calibration, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("calibration (-want +got):\n%s", diff)
	}
}

func TestCalibrationNeedsProbabilities(t *testing.T) {
	for name, r := range map[string]*Report{
		"a score above one":   answered(t, Ranked{Name: "right", Score: 7.5}, Ranked{Name: "right", Score: .5}),
		"a score below zero":  answered(t, Ranked{Name: "right", Score: -.1}),
		"not a number":        answered(t, Ranked{Name: "right", Score: math.NaN()}),
		"no scores at all":    answered(t, Ranked{Name: "right"}, Ranked{Name: "wrong"}),
		"nothing was found":   placed(t, func(int) string { return "" }, 0, 0),
		"a run without cases": {},
	} {
		if r.Calibration != nil {
			t.Errorf("%s: %+v", name, r.Calibration)
		}
	}
}
