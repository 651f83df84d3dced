package knowledge

import (
	stdcmp "cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tooldex/embed"
	"tooldex/index"
	"tooldex/tool"
)

// asTool is an archetype as a server would have it.
func asTool(a Archetype) *tool.Tool {
	properties := map[string]map[string]string{}
	for _, p := range a.Params {
		name, text, _ := strings.Cut(p, ": ")
		properties[name] = map[string]string{"type": "string", "description": text}
	}
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": properties})
	if err != nil {
		panic(err)
	}
	return &tool.Tool{Server: a.Server, Name: a.Name, Description: a.Description, InputSchema: schema}
}

func smallTools(t testing.TB) []*tool.Tool {
	var out []*tool.Tool
	for _, a := range smallSource(t).Archetypes {
		out = append(out, asTool(a))
	}
	return append(out,
		&tool.Tool{Server: "jira", Name: "create_ticket", Description: "Create a ticket in a project."},
		&tool.Tool{Server: "x", Name: "frobnicate", Description: "Zyxglorp."},
		&tool.Tool{Server: "empty", Name: "n"},
	)
}

func textsOf(tools []*tool.Tool) []embed.Document {
	out := make([]embed.Document, len(tools))
	for i, t := range tools {
		out[i] = ToolText(t)
	}
	return out
}

func mustLend(t testing.TB, b *Base, enc Encoder, tools []*tool.Tool) []Loan {
	t.Helper()
	loans, err := b.Lender(enc).Lend(t.Context(), textsOf(tools), nil)
	if err != nil {
		t.Fatal(err)
	}
	return loans
}

func TestLend(t *testing.T) {
	b, enc := smallBase(t), fakeEncoder(64)
	tools := smallTools(t)
	for i, loan := range mustLend(t, b, enc, tools) {
		checkLoan(t, tools[i], loan, enc.Dims)
	}
}

// checkLoan holds what every loan promises.
func checkLoan(t *testing.T, one *tool.Tool, loan Loan, dims int) {
	t.Helper()
	if len(loan.From) == 0 {
		if loan.Vector != nil || loan.Terms != nil {
			t.Errorf("%s: nothing lent, but there are terms or a vector", one.ID())
		}
		return
	}
	if loan.From[0].Weight != 1 {
		t.Errorf("%s: the nearest lends by %v", one.ID(), loan.From[0].Weight)
	}
	for k, f := range loan.From {
		if f.Like <= 0 || f.Like > 1.05 || f.Weight < 0 || f.Weight > 1 {
			t.Errorf("%s: lender %d is %+v", one.ID(), k, f)
		}
		if k > 0 && (f.Like > loan.From[k-1].Like || f.Weight > loan.From[k-1].Weight) {
			t.Errorf("%s: lender %d, %+v, is not behind %+v", one.ID(), k, f, loan.From[k-1])
		}
	}
	if !slices.IsSortedFunc(loan.Terms, func(a, b index.Term) int {
		if a.Weight != b.Weight {
			return int(math.Copysign(1, float64(b.Weight-a.Weight)))
		}
		return strings.Compare(a.Text, b.Text)
	}) {
		t.Errorf("%s: terms are not heaviest first, ties by text", one.ID())
	}
	var sum float64
	for _, x := range loan.Vector {
		sum += float64(x) * float64(x)
	}
	if len(loan.Vector) != dims || sum <= 0 || sum > 1+1e-5 {
		t.Errorf("%s: vector of %d components and length %v", one.ID(), len(loan.Vector), math.Sqrt(sum))
	}
}

func TestLendToItself(t *testing.T) {
	b, enc := smallBase(t), fakeEncoder(64)
	src := smallSource(t)
	for i, loan := range mustLend(t, b, enc, smallTools(t)[:len(src.Archetypes)]) {
		a := src.Archetypes[i]
		if len(loan.From) == 0 || loan.From[0].Archetype != archetype(t, b, a.Name) {
			t.Errorf("%s is not its own first lender: %+v", a.Name, loan.From)
			continue
		}
		have := map[string]bool{}
		for _, term := range loan.Terms {
			have[term.Text] = true
		}
		for _, term := range Terms(strings.Join(append(a.Utterances, a.Synonyms...), " ")) {
			if !have[term] {
				t.Errorf("%s is not lent %s", a.Name, term)
			}
		}
	}
}

// TestLendWithout holds requests back: neither their words nor their vectors are lent.
func TestLendWithout(t *testing.T) {
	b, enc := smallBase(t), fakeEncoder(64)
	texts := textsOf(smallTools(t))[:1]
	lent := func(without func(string) bool) Loan {
		l := b.Lender(enc)
		l.Without = without
		loans, err := l.Lend(t.Context(), texts, nil)
		if err != nil {
			t.Fatal(err)
		}
		return loans[0]
	}
	whole, some := lent(nil), lent(func(u string) bool { return len(u)%2 == 0 })
	none := lent(func(string) bool { return true })
	if len(none.Terms) >= len(some.Terms) || len(some.Terms) >= len(whole.Terms) {
		t.Errorf("%d words of all requests, %d of some, %d of none", len(whole.Terms), len(some.Terms), len(none.Terms))
	}
	for _, x := range none.Vector {
		if x != 0 {
			t.Fatalf("of no request comes the vector %v", none.Vector)
		}
	}
	if d := cmp.Diff(whole.From, none.From); d != "" {
		t.Errorf("what the tool is like changes (-all +none):\n%s", d)
	}
}

func TestLendIsDeterministic(t *testing.T) {
	b, enc := smallBase(t), fakeEncoder(64)
	tools := smallTools(t)
	byID := map[tool.ID]Loan{}
	for i, loan := range mustLend(t, b, enc, tools) {
		byID[tools[i].ID()] = loan
	}
	r := rand.New(rand.NewPCG(1, 1))
	shared := b.Lender(enc)
	var group sync.WaitGroup
	for range 8 {
		order := slices.Clone(tools)
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		group.Go(func() {
			loans, err := shared.Lend(t.Context(), textsOf(order), nil)
			if err != nil {
				t.Error(err)
				return
			}
			for i, loan := range loans {
				if d := cmp.Diff(byID[order[i].ID()], loan); d != "" {
					t.Errorf("%s is lent otherwise (-first +now):\n%s", order[i].ID(), d)
				}
			}
		})
	}
	group.Wait()
	one, err := b.Lender(enc).Lend(t.Context(), textsOf(tools[2:3]), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(byID[tools[2].ID()], one[0]); d != "" {
		t.Errorf("alone it is lent otherwise:\n%s", d)
	}
}

// TestLendAmongRivals: of two tools of one server that are like one archetype, the likest borrows most of its words.
// Tools of other servers, and which order they come in, change nothing.
func TestLendAmongRivals(t *testing.T) {
	b, enc := smallBase(t), fakeEncoder(64)
	like := smallTools(t)[0]
	near := &tool.Tool{Server: like.Server, Name: like.Name + "_history", Description: like.Description}
	tools := []*tool.Tool{like, near}
	lend := func(servers []string) []Loan {
		loans, err := b.Lender(enc).Lend(t.Context(), textsOf(tools), servers)
		if err != nil {
			t.Fatal(err)
		}
		return loans
	}
	weight := func(l Loan, archetype int) float32 {
		for _, f := range l.From {
			if f.Archetype == archetype {
				return f.Weight / l.From[0].Weight
			}
		}
		t.Fatalf("the tool is not like archetype %d: %v", archetype, l.From)
		return 0
	}
	alone, rivals, apart := lend(nil), lend([]string{"s", "s"}), lend([]string{"s", "r"})
	if d := cmp.Diff(alone, apart); d != "" {
		t.Errorf("tools of two servers are rivals (-alone +apart):\n%s", d)
	}
	fewer := false
	for k, f := range alone[1].From[:min(lenders, len(alone[1].From))] {
		was, now := weight(alone[1], f.Archetype), weight(rivals[1], f.Archetype)
		fewer = fewer || now < was-1e-4
		if rivals[1].From[k].Archetype != f.Archetype || rivals[1].From[k].Like != f.Like {
			t.Errorf("its likeness changes: %v, then %v", alone[1].From[k], rivals[1].From[k])
		}
	}
	if d := cmp.Diff(alone[1].Vector, rivals[1].Vector); d != "" {
		t.Errorf("its vector changes:\n%s", d)
	}
	if !fewer {
		t.Errorf("the rival borrows as before: %v", rivals[1].From)
	}
	for _, l := range rivals {
		most := slices.MaxFunc(l.From, func(a, b Lent) int { return stdcmp.Compare(a.Weight, b.Weight) })
		if most.Weight != 1 {
			t.Errorf("the greatest weight is %v", most.Weight)
		}
	}
}

func TestLendEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := smallBase(t).Lender(fakeEncoder(64))
	if _, err := l.Lend(ctx, textsOf(smallTools(t)), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if loans, err := l.Lend(t.Context(), nil, nil); err != nil || len(loans) != 0 {
		t.Errorf("no tools: %v, %v", loans, err)
	}
}
