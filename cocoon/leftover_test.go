package cocoon

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"testing"

	"github.com/cocoon-go/cocoon/safepoint"
)

// TestLeftRuntimeIsForgotten: a runtime with tasks that do not end lives on after Shutdown, so that
// their polls find them. With the end of the last task the runtime and its memory go.
func TestLeftRuntimeIsForgotten(t *testing.T) {
	shorter(t, &shutdownGrace)
	procs := runtime.GOMAXPROCS(0)
	gone := make(chan struct{})
	func() {
		rt, err := New(Config{Slots: 2, Logger: slog.New(slog.DiscardHandler)})
		must(t, err)
		runtime.AddCleanup(rt, func(c chan struct{}) { close(c) }, gone)
		polls := make(chan struct{})
		gate := make(chan struct{})
		polling := begun(t, rt.Loop(), background, "polling", func(context.Context) error {
			<-polls
			safepoint.Raise() // the timer, which would raise it, has ended
			defer safepoint.Lower()
			spinPolling()
			return nil
		})
		silent := begun(t, rt.Loop(), background, "silent", func(context.Context) error { <-gate; return nil })
		ended, cancel := context.WithCancel(background)
		cancel()
		var left *ShutdownError
		if err := rt.Shutdown(ended); !errors.As(err, &left) || !slices.Equal(left.Tasks, []string{"polling", "silent"}) {
			t.Fatalf("Shutdown: %v", err)
		}
		known := func() bool { return slices.Contains(*runtimes.Load(), rt) }
		if !known() {
			t.Error("it was forgotten with two tasks left")
		}
		close(polls)
		if err := polling.Wait(background); !errors.Is(err, ErrShutdown) {
			t.Errorf("the task that polls: %v", err)
		}
		if !known() {
			t.Error("it was forgotten with one task left")
		}
		close(gate)
		_ = silent.Wait(background) // its context has ended, but it returned
		if known() {
			t.Error("the last task has ended, and the runtime is on the list")
		}
		checkFree(t, rt)
	}()
	eventually(t, "the runtime to be collected", func() bool { runtime.GC(); return closed(gone) })
	if n := runtime.GOMAXPROCS(0); n != procs {
		t.Errorf("GOMAXPROCS is %d; it was %d", n, procs)
	}
	if safepoint.Raised() {
		t.Error("the word is up")
	}
}
