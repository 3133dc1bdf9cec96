package cocoon

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/safepoint"
)

// TestLoopLockHasFewWaysIn reads the package's own source: only lock.go touches the mutex.
func TestLoopLockHasFewWaysIn(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	touches := regexp.MustCompile(`guard\.mu`)
	seen := 0
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		text, err := os.ReadFile(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		n := len(touches.FindAll(text, -1))
		if e.Name() == "lock.go" {
			seen = n
		} else if n > 0 {
			t.Errorf("%s touches a loop's mutex; want lock, lockAll and unlock", e.Name())
		}
	}
	if seen != 2 {
		t.Errorf("lock.go touches the mutex by its loop %d times; want one way in and one way out", seen)
	}
}

// TestOneLoopLockAtATime: no goroutine takes the lock of a loop while it holds the lock of another
// loop, or the same lock. Under the race detector each lock is checked, so every test there checks
// the order of loops' locks.
func TestOneLoopLockAtATime(t *testing.T) {
	if !underRace {
		t.Skip("only programs with the race detector check the order")
	}
	rt := start(t, Config{})
	other, err := rt.NewLoop(LoopConfig{Name: "other"})
	must(t, err)
	first := rt.Loop()
	first.lock()
	defer first.unlock()
	for _, second := range []*Loop{other, first} { // without the check, the last would wait for itself
		func() {
			defer func() {
				if recover() == nil {
					second.unlock()
					t.Fatalf("loop %s was locked under the lock of loop %s", second.cfg.Name, first.cfg.Name)
				}
			}()
			second.lock()
		}()
	}
}

// TestHoldShutsOpenSlots holds a loop with open slots: a task that arrives then must wait, although
// it would take an open slot without the lock.
func TestHoldShutsOpenSlots(t *testing.T) {
	rt := start(t, Config{Slots: 2})
	l := rt.Loop()
	if err := rt.Run(background, "before", func(context.Context) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if l.slots[0].holder.Load() != nil {
		t.Fatal("the first slot is not open; the test needs one")
	}
	l.Hold()
	h := rt.Go(background, "held", func(context.Context) error { return nil })
	ran := make(chan error, 1)
	go func() { ran <- rt.Run(background, "held too", func(context.Context) error { return nil }) }()
	eventually(t, "both tasks wait", func() bool { return l.Stats().Queued == 2 })
	l.Release()
	if err := h.Wait(background); err != nil {
		t.Error(err)
	}
	if err := <-ran; err != nil {
		t.Error(err)
	}
}

// A poll of the standard library that runs under the loop's lock, as in programs of cocoon build,
// does nothing. Otherwise it would wait for the lock that its own goroutine holds.
func TestPollUnderTheLock(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	within(t, "the polls", func() {
		err := rt.Run(background, "job", func(ctx context.Context) error {
			TaskOf(ctx).Cancel()
			l := rt.Loop()
			l.lockAll()
			safepoint.Poll()
			l.unlock()
			return spinForever(ctx)
		})
		preemption(t, err)
	})
}
