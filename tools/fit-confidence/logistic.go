package main

import (
	"math"

	"tooldex/search"
)

// logistic is a logistic regression over evidence.
type logistic struct {
	bias    float64
	weights search.Evidence
}

// row is one example of a regression.
type row struct {
	evidence *search.Evidence
	yes      bool
	weight   float64
}

const (
	ridge = 1e-4 // penalty on squared weights of standardised evidence
	steps = 30   // of Newton's method, far more than it needs
)

// fitLogistic fits a regression over the named evidence by Newton's method.
func fitLogistic(rows []row, names []string) logistic {
	n := len(names)
	at := make([]int, n)
	for k, name := range names {
		at[k] = search.EvidenceIndex(name)
	}
	mean, spread, total := standardise(rows, at)
	x, w := make([]float64, n+1), make([]float64, n+1)
	x[n] = 1
	for range steps {
		gradient, hessian := make([]float64, n+1), make([][]float64, n+1)
		for k := range hessian {
			hessian[k] = make([]float64, n+1)
		}
		for _, r := range rows {
			odds := w[n]
			for k, i := range at {
				x[k] = (r.evidence[i] - mean[k]) / spread[k]
				odds += w[k] * x[k]
			}
			p := 1 / (1 + math.Exp(-odds))
			for k := range x {
				if r.yes {
					gradient[k] += r.weight * x[k]
				}
				gradient[k] -= r.weight * p * x[k]
				for l := range x {
					hessian[k][l] += (r.weight*p*(1-p) + 1e-12) * x[k] * x[l]
				}
			}
		}
		for k := range n {
			gradient[k] -= ridge * total * w[k]
			hessian[k][k] += ridge * total
		}
		for k, d := range solve(hessian, gradient) {
			w[k] += d
		}
	}
	out := logistic{bias: w[n]}
	for k, i := range at {
		out.weights[i] = w[k] / spread[k]
		out.bias -= w[k] * mean[k] / spread[k]
	}
	return out
}

// standardise returns the mean and the standard deviation of the evidence at some places, and the sum of all weights.
func standardise(rows []row, at []int) (mean, spread []float64, total float64) {
	mean, spread = make([]float64, len(at)), make([]float64, len(at))
	for _, r := range rows {
		total += r.weight
		for k, i := range at {
			mean[k] += r.weight * r.evidence[i]
		}
	}
	for k := range mean {
		mean[k] /= total
	}
	for _, r := range rows {
		for k, i := range at {
			d := r.evidence[i] - mean[k]
			spread[k] += r.weight * d * d
		}
	}
	for k := range spread {
		spread[k] = max(1e-6, math.Sqrt(spread[k]/total))
	}
	return mean, spread, total
}

// solve solves a system of linear equations by Gaussian elimination. It overwrites both arguments.
func solve(a [][]float64, b []float64) []float64 {
	n := len(b)
	for i := range n {
		pivot := i
		for r := i + 1; r < n; r++ {
			if math.Abs(a[r][i]) > math.Abs(a[pivot][i]) {
				pivot = r
			}
		}
		a[i], a[pivot], b[i], b[pivot] = a[pivot], a[i], b[pivot], b[i]
		for r := i + 1; r < n; r++ {
			f := a[r][i] / a[i][i]
			for c := i; c < n; c++ {
				a[r][c] -= f * a[i][c]
			}
			b[r] -= f * b[i]
		}
	}
	x := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		x[i] = b[i]
		for c := i + 1; c < n; c++ {
			x[i] -= a[i][c] * x[c]
		}
		x[i] /= a[i][i]
	}
	return x
}

// probability returns the probability that the regression gives.
func (l *logistic) probability(f *search.Evidence) float64 {
	odds := l.bias
	for k, w := range l.weights {
		odds += w * f[k]
	}
	return 1 / (1 + math.Exp(-odds))
}
