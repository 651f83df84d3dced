package script

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/dop251/goja"

	"tooldex/tool"
)

// watch stops a program that runs too long or makes the process too large.
type watch struct {
	vm    *goja.Runtime
	l     Limits
	timer *time.Timer
	left  time.Duration // of the program's own time, while a call is made
	since time.Time     // when the program went on
	stop  context.CancelFunc
	ended sync.WaitGroup
}

// startWatch watches a program until end.
func startWatch(ctx context.Context, vm *goja.Runtime, l Limits) *watch {
	w := &watch{vm: vm, l: l, left: l.Run}
	ctx, w.stop = context.WithCancel(ctx)
	context.AfterFunc(ctx, func() { vm.Interrupt(l.endReason(ctx)) })
	w.timer = time.AfterFunc(l.Run, func() { vm.Interrupt(timeout("the script ran longer than " + l.Run.String())) })
	w.since = time.Now()
	w.ended.Go(func() { w.watchMemory(ctx) })
	return w
}

// endReason returns why a program whose context has ended is stopped: its caller has gone, or its time is over.
func (l Limits) endReason(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return context.Canceled
	}
	return timeout("the script and its calls took longer than " + l.Total.String())
}

func timeout(msg string) error {
	return &tool.Error{Code: tool.Timeout, Op: "run script", Msg: msg, Hint: "do less in one script"}
}

// pause stops the program's own time while a call is made; resume lets it go on.
func (w *watch) pause() {
	w.timer.Stop()
	w.left -= time.Since(w.since)
}

func (w *watch) resume() {
	w.since = time.Now()
	w.timer.Reset(max(w.left, 0))
}

// end stops watching.
func (w *watch) end() {
	w.timer.Stop()
	w.stop()
	w.ended.Wait()
}

// memoryInterval is how often the size of the process is read.
const memoryInterval = 2 * time.Millisecond

// watchMemory interrupts the program when the heap has grown by more than the limit. Garbage counts only when there is
// four times as much, since a collection shows what is garbage.
func (w *watch) watchMemory(ctx context.Context) {
	before := heapBytes()
	ticker := time.NewTicker(memoryInterval)
	defer ticker.Stop()
	limit := uint64(w.l.Memory)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if heapBytes() < before+limit {
			continue
		}
		if heapBytes() < before+4*limit {
			runtime.GC()
		}
		if heapBytes() >= before+limit {
			w.vm.Interrupt(&tool.Error{
				Code: tool.Invalid, Op: "run script", Msg: fmt.Sprintf("the script took more than %d MiB", w.l.Memory>>20),
				Hint: "keep less at a time",
			})
			return
		}
	}
}

func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
