// Package tasktest has what tests of the packages above cocoon share: a runtime that must be free
// when the test ends, and waits that fail with the stacks of all goroutines.
package tasktest

import (
	"context"
	"log/slog"
	"runtime"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// Patience is how long a test waits for what must happen: long enough for a busy machine.
const Patience = 20 * time.Second

// Start returns a runtime without a log. At the end of the test it is shut down, and all slots of
// its loops must be free.
func Start(t testing.TB, cfg cocoon.Config) *cocoon.Runtime {
	t.Helper()
	cfg.Logger = slog.New(slog.DiscardHandler)
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

// Stacks returns the stacks of all goroutines.
func Stacks() []byte {
	buf := make([]byte, 1<<20)
	return buf[:runtime.Stack(buf, true)]
}
