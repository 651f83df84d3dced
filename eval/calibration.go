package eval

import "math"

// Calibration measures how far the score of an answer's first tool can be taken for the probability that the tool
// serves. Requests that no tool serves count too: their first tool is never right.
type Calibration struct {
	Answers int `json:"answers"` // requests for which anything was found
	// Error is the expected calibration error: the distance of Score and Right over Bins, weighed by Answers (Naeini,
	// Cooper and Hauskrecht, Obtaining well calibrated probabilities using Bayesian binning, AAAI 2015).
	Error float64 `json:"error"`
	Bins  []Bin   `json:"bins"` // ten of equal width from 0 to 1; empty ones are left out
}

// Bin holds the answers whose first score lies between two bounds.
type Bin struct {
	From    float64 `json:"from"`
	To      float64 `json:"to"` // a score on the bound belongs to the next bin, but 1 to the last
	Answers int     `json:"answers"`
	Score   float64 `json:"score"` // mean
	Right   float64 `json:"right"` // share whose first tool serves
}

const numBins = 10

// measureCalibration returns nil where nothing was found, where a score is not between 0 and 1, and where all are 0, as
// in a run file without scores.
func measureCalibration(outcomes []Outcome) *Calibration {
	c := &Calibration{}
	var bins [numBins]Bin
	most := 0.0
	for i := range outcomes {
		o := &outcomes[i]
		if len(o.Ranked) == 0 {
			continue
		}
		most = max(most, o.top)
		if !(o.top >= 0 && o.top <= 1) {
			return nil
		}
		b := &bins[min(int(o.top*numBins), numBins-1)]
		b.Answers++
		b.Score += o.top
		b.Right += boolScore(o.Rank == 1)
		c.Answers++
	}
	if most == 0 {
		return nil
	}
	for i, b := range bins {
		if b.Answers == 0 {
			continue
		}
		b.From, b.To = float64(i)/numBins, float64(i+1)/numBins
		b.Score /= float64(b.Answers)
		b.Right /= float64(b.Answers)
		c.Error += math.Abs(b.Score-b.Right) * float64(b.Answers) / float64(c.Answers)
		c.Bins = append(c.Bins, b)
	}
	return c
}
