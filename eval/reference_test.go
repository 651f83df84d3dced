package eval

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// reference is what other software measured; testdata/README.md says which, and how.
type reference struct {
	Cases []struct {
		Grades      map[string]float64
		Ranked      []string
		Scores      []float64
		Want        map[Metric]float64
		SklearnNDCG *float64
	}
	AUROCs []struct {
		High, Low []float64
		AUROC     float64
	}
	Intervals []struct {
		A, B      []int
		Low, High float64
	}
}

func readReference(t *testing.T) *reference {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "reference.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r reference
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

func TestMetricsAgainstOtherSoftware(t *testing.T) {
	r := readReference(t)
	repeats, ties, graded, second := 0, 0, 0, 0
	for n, rc := range r.Cases {
		c, ranked := Case{}, make([]Ranked, len(rc.Ranked))
		binary := true
		for name, g := range rc.Grades {
			c.Relevant = append(c.Relevant, name)
			binary = binary && g == 1
		}
		if !binary {
			c.Grades = rc.Grades
			graded++
		}
		seen := map[string]bool{}
		for i, name := range rc.Ranked {
			ranked[i] = Ranked{Name: name, Score: rc.Scores[i]}
			repeats += int(boolScore(seen[name]))
			seen[name] = true
			ties += int(boolScore(i > 0 && rc.Scores[i] == rc.Scores[i-1]))
		}
		got, _ := scoreRanking(&c, ranked, 50)
		for m, want := range rc.Want {
			if math.Abs(got[m]-want) > 1e-12 {
				t.Errorf("case %d, %v in %v: %s is %v, ranx has %v", n, rc.Grades, rc.Ranked, m, got[m], want)
			}
		}
		if rc.SklearnNDCG != nil {
			second++
			if math.Abs(got[metricNDCG]-*rc.SklearnNDCG) > 1e-12 {
				t.Errorf("case %d: ndcg@10 is %v, scikit-learn has %v", n, got[metricNDCG], *rc.SklearnNDCG)
			}
		}
	}
	if len(r.Cases) < 50 || repeats < 10 || ties < 50 || graded < 10 || second < 20 {
		t.Errorf("%d cases, %d repeats, %d ties, %d graded, %d for scikit-learn: too few to tell", len(r.Cases),
			repeats, ties, graded, second)
	}
}

func TestAUROCAgainstOtherSoftware(t *testing.T) {
	r := readReference(t)
	for _, a := range r.AUROCs {
		if got := areaUnderROC(a.High, a.Low); math.Abs(got-a.AUROC) > 1e-12 {
			t.Errorf("auroc(%v, %v) = %v, scikit-learn has %v", a.High, a.Low, got, a.AUROC)
		}
	}
	if len(r.AUROCs) < 10 {
		t.Errorf("%d cases", len(r.AUROCs))
	}
}

// The ends of an interval of 10,000 draws scatter around those of very many by about a fiftieth of its width.
func TestIntervalsAgainstOtherSoftware(t *testing.T) {
	for _, in := range readReference(t).Intervals {
		t.Run(fmt.Sprintf("%d requests", len(in.A)), func(t *testing.T) {
			none := func(int) string { return "" }
			c, err := Compare(placed(t, none, in.A...), placed(t, none, in.B...))
			if err != nil {
				t.Fatal(err)
			}
			d := difference(t, c.All, metricMRR)
			near := (in.High - in.Low) / 50
			if math.Abs(d.Low-in.Low) > near || math.Abs(d.High-in.High) > near {
				t.Errorf("interval %v to %v, SciPy has %v to %v", d.Low, d.High, in.Low, in.High)
			}
			if d.Wins+d.Losses+d.Ties != len(in.A) {
				t.Errorf("%d wins, %d losses, %d ties of %d", d.Wins, d.Losses, d.Ties, len(in.A))
			}
		})
	}
}
