package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The tests of this file run the test binary again as another process; these say what it does there.
const (
	envRole = "TOOLDEX_STORE_ROLE"
	envDir  = "TOOLDEX_STORE_DIR"
	envArg  = "TOOLDEX_STORE_ARG"
)

func TestMain(m *testing.M) {
	roles := map[string]func(dir string, arg int) error{
		"write": writeForever, "count": countUp, "limited": writeLimited, "make below": makeBelow, "steps": makeSteps,
	}
	for name, c := range changes() {
		roles[name] = func(dir string, _ int) error { return c.do(dir) }
	}
	if role, ok := roles[os.Getenv(envRole)]; ok {
		arg, err := strconv.Atoi(os.Getenv(envArg))
		if err == nil {
			err = role(os.Getenv(envDir), arg)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(t *testing.T, role, dir string, arg int) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), envRole+"="+role, envDir+"="+dir, envArg+"="+strconv.Itoa(arg))
	cmd.Stderr = os.Stderr
	return cmd
}

const batchSize = 7

// writeForever writes one batch after the other, beginning at batch n, and says so after each that was acknowledged.
func writeForever(dir string, n int) error {
	s, err := Open(dir, Options{})
	for ; err == nil; n++ {
		if _, err = s.Write(context.Background(), &Batch{Records: records(n*batchSize, (n+1)*batchSize)}); err == nil {
			fmt.Println(n)
		}
	}
	return err
}

func TestKilledWhileWriting(t *testing.T) {
	dir := t.TempDir()
	acknowledged := 0 // batches, over all lives
	for life := range 10 {
		cmd := child(t, "write", dir, acknowledged)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		var kill *time.Timer
		for lines.Scan() {
			n, err := strconv.Atoi(lines.Text())
			if err != nil || n != acknowledged {
				t.Fatalf("line %q, want %d", lines.Text(), acknowledged)
			}
			acknowledged++
			if kill == nil {
				kill = time.AfterFunc(time.Duration(rand.IntN(20_000))*time.Microsecond,
					func() { _ = cmd.Process.Kill() })
			}
		}
		err = cmd.Wait()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Exited() {
			t.Fatalf("life %d ended by itself: %v", life, err)
		}

		s := open(t, dir)
		if err := s.Check(context.Background()); err != nil {
			t.Fatalf("life %d: %v", life, err)
		}
		got := load(t, s, View{}).Records
		if len(got)%batchSize != 0 {
			t.Fatalf("life %d left %d records, not whole batches of %d", life, len(got), batchSize)
		}
		// The last batch may be on the disk without having been acknowledged; nothing else may be.
		if n := len(got) / batchSize; n != acknowledged && n != acknowledged+1 {
			t.Fatalf("life %d: %d batches are there, %d were acknowledged", life, n, acknowledged)
		}
		if d := diff(records(0, len(got)), got); d != "" {
			t.Fatalf("life %d (-want +got)\n%s", life, d)
		}
	}
	t.Logf("%d batches acknowledged in ten lives", acknowledged)
}

const counts = 40

// countUp raises a shared number, deciding on what it has loaded and repeating where another was faster, and adds
// records of its own.
func countUp(dir string, who int) error {
	s, err := Open(dir, Options{LockTimeout: time.Minute})
	if err != nil {
		return err
	}
	ctx := context.Background()
	for done := 0; done < counts; {
		snap, err := s.Load(ctx, View{})
		if err != nil {
			return err
		}
		n, _ := strconv.Atoi(string(snap.Overlays["number"])) // absent at first
		own := who*counts + done
		_, err = s.Write(ctx, &Batch{
			Base: snap.Generation, Overlays: map[string][]byte{"number": []byte(strconv.Itoa(n + 1))},
			Records: records(own, own+1),
		})
		switch {
		case err == nil:
			done++
		case !errors.Is(err, ErrChanged):
			return err
		}
	}
	return nil
}

func TestTwoProcessesLoseNoUpdate(t *testing.T) {
	dir := t.TempDir()
	const processes = 2
	var running []*exec.Cmd
	for who := range processes { // both find no file and make it
		cmd := child(t, "count", dir, who)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	for _, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	got := load(t, open(t, dir), View{})
	if n := string(got.Overlays["number"]); n != strconv.Itoa(processes*counts) {
		t.Errorf("counted to %s, want %d", n, processes*counts)
	}
	if d := diff(records(0, processes*counts), got.Records); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// writeLimited writes a batch while the system lets no file grow past limit bytes, as on a full disk.
func writeLimited(dir string, limit int) error {
	s, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	if err := limitFiles(limit); err != nil {
		return err
	}
	if _, err := s.Write(context.Background(), &Batch{Records: records(1000, 1200)}); err != nil {
		fmt.Println("refused:", err)
		return nil
	}
	fmt.Println("written")
	return nil
}

func TestDiskFull(t *testing.T) {
	if limitFiles == nil {
		t.Skip("this system cannot limit the size of files")
	}
	dir := t.TempDir()
	s := open(t, dir)
	write(t, s, &Batch{Records: records(0, 20)})
	refused := 0
	for limit := 24 << 10; ; limit += 40 << 10 {
		out, err := child(t, "limited", dir, limit).Output()
		if err != nil {
			t.Fatalf("limit %d: %v", limit, err)
		}
		if err := s.Check(context.Background()); err != nil {
			t.Fatalf("limit %d: %v", limit, err)
		}
		got := load(t, s, View{}).Records
		if strings.HasPrefix(string(out), "written") {
			if len(got) != 220 {
				t.Errorf("%d records after a write that was acknowledged, want 220", len(got))
			}
			break
		}
		refused++
		if d := diff(records(0, 20), got); d != "" {
			t.Fatalf("limit %d: a refused write left something (-want +got)\n%s", limit, d)
		}
		if !strings.Contains(string(out), "disk") {
			t.Errorf("limit %d: %q does not point at the disk", limit, out)
		}
	}
	if refused == 0 {
		t.Error("no limit was small enough to be met")
	}
}
