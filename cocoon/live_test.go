package cocoon

import (
	"context"
	"runtime"
	"sync"
	"testing"
)

// inUse returns the memory in use.
func inUse() (heap, stack int64) {
	for range 3 { // what is in pools goes with the second
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc), int64(m.StackInuse)
}

// TestWaitingTaskNeedsLittle: a task that waits costs no more than 1 KiB beside its goroutine,
// whose stack need not grow for it.
func TestWaitingTaskNeedsLittle(t *testing.T) {
	const n = 4000
	var gate chan struct{}
	// crowd returns what each of n goroutines needs while it waits.
	crowd := func(body func(), there func() bool, end func()) (heap, stack int64) {
		heap0, stack0 := inUse()
		gate = make(chan struct{})
		var all sync.WaitGroup
		for range n {
			all.Go(body)
		}
		eventually(t, "the crowd", there)
		heap, stack = inUse()
		close(gate)
		end()
		all.Wait()
		return (heap - heap0) / n, (stack - stack0) / n
	}
	goroutines := runtime.NumGoroutine()
	var heap, stack int64
	for range 2 { // goroutines that were there before are used again
		heap, stack = crowd(func() { <-gate }, func() bool { return runtime.NumGoroutine() >= goroutines+n }, func() {})
	}
	for name, prepare := range states {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 2, StallAfter: -1})
			prepare(t, rt)
			l := rt.Loop()
			check := func(what string, h, s int64) {
				t.Helper()
				// What policies need of the stack, which are evaluated when a task comes and goes,
				// is theirs. A collection that ends meanwhile makes stacks grow, a third of them at
				// times.
				if h > heap+1024 || s > stack*3/2 && name != "events" {
					t.Errorf("a task that %s takes %d bytes of heap and %d of stack, a goroutine %d and %d", what, h, s, heap, stack)
				}
			}
			l.Hold()
			h, s := crowd(func() { rt.Run(background, "job", nothing) }, func() bool { return l.Stats().Queued == n }, l.Release)
			check("waits in the queue", h, s)
			h, s = crowd(func() {
				rt.Run(background, "job", func(ctx context.Context) error { return Block(ctx, func() error { <-gate; return nil }) })
			}, func() bool {
				st := l.Stats()
				return rt.Stats().Tasks == n && st.Busy == 0 && st.Queued == 0
			}, func() {})
			check("is blocked", h, s)
		})
	}
}

func nothing(context.Context) error { return nil }
