// Package tasktest has what tests of the packages above cocoon share: a runtime that must be free
// when the test ends, and waits that fail with the stacks of all goroutines.
package tasktest

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// Patience is how long a test waits for what must happen: long enough for a busy machine.
const Patience = 20 * time.Second

// Start returns a runtime, without a log if cfg has none. At the end of the test it is shut down,
// and all slots of its loops must be free.
func Start(t testing.TB, cfg cocoon.Config) *cocoon.Runtime {
	t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	rt, err := cocoon.New(cfg)
	Must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), Patience)
		defer cancel()
		if err := rt.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		for _, s := range rt.Stats().Loops {
			if s.Busy != 0 || s.Queued != 0 || s.Lent != 0 || s.Parked != 0 {
				t.Errorf("loop %s is not free: %+v", s.Name, s)
			}
		}
	})
	return rt
}

// StartWith returns a runtime as Start does, with the policies of a document. The runtime has
// loaded the document from a file.
func StartWith(t testing.TB, cfg cocoon.Config, document string) *cocoon.Runtime {
	t.Helper()
	rt := Start(t, cfg)
	name := filepath.Join(t.TempDir(), "policies.yaml")
	Must(t, os.WriteFile(name, []byte(document), 0o600))
	Must(t, rt.LoadPolicyFile(name))
	return rt
}

// Exclusive returns a runtime, and a loop of it whose slots are never lent: a task that keeps its
// slot while it waits holds up the other tasks. On the default loop the runtime would lend that
// slot, and no test would detect a missing Block.
func Exclusive(t testing.TB, cfg cocoon.LoopConfig) (*cocoon.Runtime, *cocoon.Loop) {
	t.Helper()
	rt := Start(t, cocoon.Config{})
	cfg.Name, cfg.Exclusive = "exclusive", true
	loop, err := rt.NewLoop(cfg)
	Must(t, err)
	return rt, loop
}

// OneSlot returns a runtime, and an exclusive loop of it with one slot.
func OneSlot(t testing.TB) (*cocoon.Runtime, *cocoon.Loop) {
	t.Helper()
	return Exclusive(t, cocoon.LoopConfig{Slots: 1})
}

// Spin passes safe points until a throw ends the task.
func Spin(ctx context.Context) error {
	for {
		cocoon.SafePoint(ctx)
	}
}

// KeepSlot returns when c is closed or sends a value. It spins, because a task that waited for c
// would lose its slot.
func KeepSlot[T any](c <-chan T) error {
	for end := time.Now().Add(Patience); time.Now().Before(end); runtime.Gosched() {
		select {
		case <-c:
			return nil
		default:
		}
	}
	return fmt.Errorf("the slot was kept for %v in vain", Patience)
}

// Must fails the test on an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Eventually waits until ok holds. Tasks must not call it: it sleeps, and a task that sleeps may
// lose its slot.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(Patience); !ok(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			late(t, what)
		}
	}
}

// Receive waits for a value from a channel.
func Receive[T any](t testing.TB, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(Patience):
		late(t, what)
	}
	return v
}

func late(t testing.TB, what string) {
	t.Helper()
	t.Fatalf("%s: not within %v\n%s", what, Patience, Stacks())
}

// Histogram returns the histogram that a runtime makes of durations, by the documented bounds of
// its buckets.
func Histogram(all []time.Duration) (h cocoon.Histogram) {
	h.First, h.Counts = -240, make([]int64, 512)
	for _, d := range all {
		h.Sum += d
		if d == 0 {
			h.Zero++
			continue
		}
		i := 0
		for h.Bound(h.First+i) < d {
			i++
		}
		h.Counts[i]++
	}
	return h
}

// Stacks returns the stacks of all goroutines.
func Stacks() []byte {
	buf := make([]byte, 1<<20)
	return buf[:runtime.Stack(buf, true)]
}
