package cocoon

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/safepoint"
)

// pulls is iter.Pull as rewritten code has it.
func pulls(seq iter.Seq[int]) (next func() (int, bool), stop func()) {
	asks, stopped := false, false
	var yields func(int) bool
	drive, begin := safepoint.Pulled(func() bool {
		if stopped {
			return true
		}
		asks = true
		return yields(0)
	})
	pull, end := iter.Pull(func(yield func(int) bool) {
		yields = yield
		defer begin()()
		seq(yield)
	})
	next = func() (v int, ok bool) {
		for again := true; again; {
			drive(true)
			v, ok = pull()
			drive(false)
			if again, asks = asks, false; again {
				safepoint.Answer()
			}
		}
		return v, ok
	}
	return next, func() {
		stopped = true
		drive(true)
		defer drive(false)
		end()
	}
}

// A throw into a task that waits for an iterator comes at the iterator's poll, and unwinds both. It
// waits while the iterator holds a lock, or the task does.
func TestPulledIteratorIsThrownInto(t *testing.T) {
	noteLocked()
	rt := start(t, Config{Slots: 1})
	limit(t, rt, "lib.match")
	for _, name := range []string{"free", "a lock of the iterator", "a lock of the task"} {
		t.Run(name, func(t *testing.T) {
			inside, unwound := name == "free", false
			seq := func(yield func(int) bool) {
				defer func() { unwound = true }()
				switch name {
				case "a lock of the iterator":
					locked(pollFor(20*time.Millisecond, &inside))
				case "a lock of the task":
					pollFor(20*time.Millisecond, &inside)()
					yield(1)
				}
				spinPolling()
			}
			must(t, rt.Run(background, "job", func(ctx context.Context) error {
				err := inSection(ctx, "lib.match", func() error {
					next, stop := pulls(seq)
					defer stop()
					if name == "a lock of the task" {
						locked(func() { next() })
					}
					next()
					return nil
				})
				preemption(t, err)
				return nil
			}))
			if !inside || !unwound || safepoint.Raised() || pullings.n.Load() != 0 {
				t.Errorf("the lock was kept: %v, the iterator is unwound: %v, requests left: %v, iterators left: %d",
					inside, unwound, safepoint.Raised(), pullings.n.Load())
			}
		})
	}
}

// A task runs while the iterator does that it waits for.
func TestTaskRunsWhileItsIteratorDoes(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	if !goroutine.CanTell() {
		t.Skip("the status of goroutines is not known")
	}
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		s := strandOf(ctx)
		next, stop := pulls(func(yield func(int) bool) {
			if own := goroutine.StatusOf(s.g.Load()); own != goroutine.Waiting {
				t.Errorf("its goroutine has the status %v", own)
			}
			if status := s.status(); status != goroutine.Running {
				t.Errorf("the task has the status %v", status)
			}
			yield(1)
		})
		defer stop()
		next()
		if status := s.status(); status != goroutine.Running {
			t.Errorf("behind it the task has the status %v", status)
		}
		return nil
	}))
}
