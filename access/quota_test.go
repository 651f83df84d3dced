package access

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tooldex/tool"
)

// gatedQuota returns the quota that a gate grants a token of a file, and a function that changes the limits in the
// file.
func gatedQuota(t *testing.T, limits string, refused func(Principal, View, string)) (quota func() *Quota, change func(string)) {
	t.Helper()
	file := File{filepath.Join(t.TempDir(), "tokens.yaml")}
	write := func(limits string) {
		t.Helper()
		text := fmt.Sprintf("tokens: [{name: ci, sha256: %x, %s}]", Digest("secret"), limits)
		if err := os.WriteFile(file.Path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(limits)
	g, err := New(Options{File: file, Refused: refused})
	if err != nil {
		t.Fatal(err)
	}
	quota = func() *Quota {
		t.Helper()
		grant, err := g.Identify(context.Background(), "secret", "/")
		if err != nil || grant.Quota == nil {
			t.Fatal(grant, err)
		}
		return grant.Quota
	}
	return quota, func(limits string) {
		write(limits)
		g.seen = nil
		if err := g.reloadTokens(); err != nil {
			t.Fatal(err)
		}
	}
}

// wantExhausted requires that an error says when to try again, after about this many seconds.
func wantExhausted(t *testing.T, err error, after int) {
	t.Helper()
	var used Exhausted
	if tool.CodeOf(err) != tool.Unavailable || !errors.As(err, &used) || used.After != time.Duration(after)*time.Second ||
		!strings.Contains(err.Error(), "permits") {
		t.Errorf("%v, %v, want %d s", err, used.After, after)
	}
}

func TestQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := map[string]int{}
		quota, change := gatedQuota(t, "requestsPerMinute: 6, callsPerMinute: 3, concurrentCalls: 2",
			func(who Principal, _ View, kind string) { refused[who.Name+" "+kind]++ })
		for i := range 6 {
			if err := quota().Request(); err != nil {
				t.Errorf("request %d: %v", i, err)
			}
		}
		wantExhausted(t, quota().Request(), 10)
		<-time.After(10 * time.Second)
		if err := quota().Request(); err != nil {
			t.Errorf("ten seconds later: %v", err)
		}
		wantExhausted(t, quota().Request(), 10)
		first, err := quota().BeginCall()
		if err != nil {
			t.Fatal(err)
		}
		second, err := quota().BeginCall()
		if err != nil {
			t.Fatal(err)
		}
		_, err = quota().BeginCall()
		wantExhausted(t, err, 1)
		first()
		third, err := quota().BeginCall()
		if err != nil {
			t.Fatalf("once one has ended: %v", err)
		}
		second()
		_, err = quota().BeginCall()
		wantExhausted(t, err, 20) // the three of this minute are used
		third()
		before := quota()
		change("requestsPerMinute: 6, concurrentCalls: 1") // what was used of a limit that stays counts on
		if quota() != before {
			t.Error("sessions would count for another quota")
		}
		wantExhausted(t, before.Request(), 10)
		end, err := before.BeginCall()
		if err != nil {
			t.Fatal(err)
		}
		_, err = quota().BeginCall()
		wantExhausted(t, err, 1)
		end()
		change("readOnly: false")
		for range 1000 {
			end, err := quota().BeginCall()
			if err := errors.Join(err, quota().Request()); err != nil {
				t.Fatal(err)
			}
			defer end()
		}
		if want := "map[token ci calls:1 token ci concurrent:2 token ci requests:3]"; fmt.Sprint(refused) != want {
			t.Errorf("refused %v, want %s", refused, want)
		}
	})
}

// TestQuotaOfCrowds has many callers at once: no more calls run than permitted, and none is forgotten.
func TestQuotaOfCrowds(t *testing.T) {
	quota, _ := gatedQuota(t, "callsPerMinute: 50, concurrentCalls: 7", nil)
	var mu sync.Mutex
	running, most, made := 0, 0, 0
	next := callerFunc(func() {
		mu.Lock()
		defer mu.Unlock()
		made++
		running++
		most = max(most, running)
		mu.Unlock()
		<-time.After(time.Millisecond)
		mu.Lock()
		running--
	})
	caller, ctx := LimitCalls{}.Caller(next), WithQuota(context.Background(), quota())
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			for range 10 {
				_, _ = caller.Call(ctx, tool.Call{})
			}
		})
	}
	all.Wait()
	if most > 7 || made < 50 || made > 60 {
		t.Errorf("%d calls were made, %d at once", made, most)
	}
	if quota().running != 0 {
		t.Errorf("%d calls are said to run", quota().running)
	}
	if _, err := caller.Call(context.Background(), tool.Call{}); err != nil {
		t.Errorf("without a token: %v", err)
	}
}

// callerFunc is a Caller of which only the effect counts.
type callerFunc func()

func (f callerFunc) Call(context.Context, tool.Call) (*tool.CallResult, error) {
	f()
	return &tool.CallResult{}, nil
}

func TestLimitsThatCannotBe(t *testing.T) {
	for _, limits := range []string{"callsPerMinute: -1", "concurrentCalls: 1000001", "requestsPerMinute: 1e9", "requestsPerMinute: many"} {
		if _, err := ParseTokens([]byte(fmt.Sprintf("tokens: [{name: a, sha256: %x, %s}]", Digest("a"), limits))); tool.CodeOf(err) != tool.Invalid {
			t.Errorf("%s: %v", limits, err)
		}
	}
	if got := (Limits{60, 10, 2}).String(); got != "60 requests a minute, 10 calls a minute, 2 calls at once" {
		t.Error(got)
	}
}
