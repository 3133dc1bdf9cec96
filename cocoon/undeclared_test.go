package cocoon

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/safepoint"
)

// A task that nothing declares does not keep a waiting task from its slot longer because it has safe
// points, in the source or by cocoon build: the task loses its slot after StallAfter, and waits at
// its next safe point for another. Nothing is reported. A task declared atomic keeps its slot, and
// so does a task with safe points in the source on a loop made by NewLoop with one slot.
func TestUndeclaredTasksShareTheirSlot(t *testing.T) {
	const limit = time.Hour // the timer itself never looks
	inserted := func(context.Context) { safepoint.Poll() }
	for name, c := range map[string]struct {
		document string
		poll     func(context.Context)
		oneSlot  bool // by NewLoop
		shares   bool
	}{
		"undeclared":        {"", inserted, false, true},
		"by a pattern":      {"tasks: {'l*': {priority: 1}}\n", inserted, false, true},
		"atomic":            {"tasks: {long: atomic}\n", inserted, false, false},
		"of the source":     {"", SafePoint, false, true},
		"of it, atomic":     {"tasks: {long: atomic}\n", SafePoint, false, false},
		"of it, event loop": {"", SafePoint, true, false},
		"event loop":        {"", inserted, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 1, StallAfter: limit})
			if c.document != "" {
				must(t, newPolicyFile(t).load(t, rt, c.document))
			}
			l := rt.Loop()
			if c.oneSlot {
				var err error
				l, err = rt.NewLoop(LoopConfig{Name: "events", Slots: 1})
				must(t, err)
			}
			must(t, l.Run(background, "long", func(ctx context.Context) error {
				short, s := l.Go(background, "short", nothing), strandOf(ctx)
				eventually(t, "the other task to wait", func() bool { return l.Stats().Queued == 1 })
				check := func(after time.Duration) {
					l.lockAll()
					defer l.unlock()
					l.checkStall(s, notify.Now()+int64(after))
				}
				check(limit * 3 / 4) // it is asked
				c.poll(ctx)
				if check(limit + time.Minute); s.lent.Load() != c.shares {
					t.Errorf("its slot was given away: %t; want %t", !c.shares, c.shares)
				}
				for end := time.Now().Add(patience); c.shares && !closed(short.Done()) && time.Now().Before(end); {
					c.poll(ctx)
				}
				if closed(short.Done()) != c.shares {
					t.Errorf("the other task has run: %t; want %t", !c.shares, c.shares)
				}
				return nil
			}))
			if n := l.Stats().Stalls; n != 0 {
				t.Errorf("%d stalls are reported of a task that polls", n)
			}
		})
	}
}

// Two long tasks share a slot, and both end.
func TestUndeclaredTasksTakeTurns(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: time.Millisecond})
	// for a moment, until its next poll, a task without its slot runs on
	var turns, last atomic.Int32
	body := func(i int32) func(context.Context) error {
		return func(context.Context) error {
			for end := time.Now().Add(patience); turns.Load() < 10 && time.Now().Before(end); safepoint.Poll() {
				if last.Swap(i) != i {
					turns.Add(1)
				}
			}
			return nil
		}
	}
	a, b := rt.Go(background, "a", body(1)), rt.Go(background, "b", body(2))
	must(t, a.Wait(background))
	must(t, b.Wait(background))
	if n := turns.Load(); n < 10 {
		t.Errorf("%d turns", n)
	}
}
