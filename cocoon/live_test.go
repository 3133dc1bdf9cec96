package cocoon

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// inUse returns the memory in use.
func inUse() (heap, stack int64) {
	for range 3 { // the second collection frees what is in pools
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc), int64(m.StackInuse)
}

// TestWaitingTaskNeedsLittle: a waiting task costs at most 1 KiB in addition to its goroutine, and
// the goroutine's stack need not grow.
func TestWaitingTaskNeedsLittle(t *testing.T) {
	noteLocked() // programs of cocoon build have such lines
	n := longtest.Count(4000, 500)
	var gate chan struct{}
	// crowd returns the memory per goroutine of n goroutines while they wait.
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
		return (heap - heap0) / int64(n), (stack - stack0) / int64(n)
	}
	var heap, stack int64
	for range 2 { // existing goroutines are reused
		var there atomic.Int64
		heap, stack = crowd(func() { there.Add(1); <-gate }, func() bool { return there.Load() == int64(n) }, func() {})
	}
	for name, prepare := range amounts {
		if longtest.Off() && name != "open slots" && name != "events" && name != "short limit" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 2, StallAfter: -1})
			prepare(t, rt)
			l := rt.Loop()
			check := func(what string, measure func() (h, s int64)) {
				t.Helper()
				// Policies are evaluated when a task arrives and ends, and limits are when a task
				// gets a slot. Both use stack, which counts for the policies. A garbage collection
				// that ends meanwhile makes stacks grow, occasionally a third of them. The Go
				// runtime allocates the records of goroutines and of their waits anew when its
				// lists of free ones are on the other P: noise, which only adds, so that one of
				// three measurements must hold.
				usesStack := name == "events" || name == "short limit"
				var h, s int64
				for range 3 {
					if h, s = measure(); h <= heap+1024 && (s <= stack*3/2 || usesStack) {
						return
					}
				}
				t.Errorf("a task that %s takes %d bytes of heap and %d of stack, a goroutine %d and %d", what, h, s, heap, stack)
			}
			check("waits in the queue", func() (h, s int64) {
				l.Hold()
				return crowd(func() { rt.Run(background, "job", nothing) }, func() bool { return l.Stats().Queued == n }, l.Release)
			})
			check("is blocked", func() (h, s int64) {
				return crowd(func() {
					rt.Run(background, "job", func(ctx context.Context) error { return Block(ctx, func() error { <-gate; return nil }) })
				}, func() bool {
					st := l.Stats()
					return rt.Stats().Tasks == int64(n) && st.Busy == 0 && st.Queued == 0
				}, func() {})
			})
		})
	}
}

// TestBlockedTaskKeepsLittle: what the timer found while a task ran, and the stacks of a request
// that is over, are not kept while the task waits.
func TestBlockedTaskKeepsLittle(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		s := strandOf(ctx)
		kept := func() (kept bool) {
			s.loop.lock()
			defer s.loop.unlock()
			return s.checks != nil || s.stacks.Load().masked != nil
		}
		s.loop.lock()
		s.checked()
		s.loop.unlock()
		s.remembers().masked = new(maskedStacks)
		if !kept() {
			t.Error("a task that runs has nothing")
		}
		return Block(ctx, func() error {
			must(t, rt.Go(background, "other", nothing).Wait(background)) // it takes the slot
			if kept() {
				t.Error("a blocked task has it")
			}
			return nil
		})
	}))
}

// TestStrandFillsItsSizeClass: with one field more, each waiting task takes 64 bytes more.
func TestStrandFillsItsSizeClass(t *testing.T) {
	const class, header = 704, 8 // of the allocator, for objects above 512 bytes with pointers
	if size := unsafe.Sizeof(strand{}); unsafe.Sizeof(uintptr(0)) == 8 && size > class-header {
		t.Errorf("a strand has %d bytes, more than the %d that fit into its size class", size, class-header)
	}
}

func nothing(context.Context) error { return nil }
