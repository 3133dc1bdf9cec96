package cocoon

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/safepoint"
)

// Code from cocoon build that nothing declares does not keep a waiting task from its slot longer
// than code without polls: the task loses its slot after StallAfter, and waits at its next poll for
// another. Nothing is reported. A task that is declared atomic, or has safe points of its own,
// keeps its slot.
func TestUndeclaredTasksShareTheirSlot(t *testing.T) {
	const limit = time.Hour // the timer itself never looks
	for name, c := range map[string]struct {
		document string
		poll     func(context.Context)
		shares   bool
	}{
		"undeclared":    {"", func(context.Context) { safepoint.Poll() }, true},
		"by a pattern":  {"tasks: {'l*': {priority: 1}}\n", func(context.Context) { safepoint.Poll() }, true},
		"atomic":        {"tasks: {long: atomic}\n", func(context.Context) { safepoint.Poll() }, false},
		"of the source": {"", SafePoint, false},
	} {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 1, StallAfter: limit})
			if c.document != "" {
				must(t, newPolicyFile(t).load(t, rt, c.document))
			}
			must(t, rt.Run(background, "long", func(ctx context.Context) error {
				short, s, l := rt.Go(background, "short", nothing), strandOf(ctx), rt.Loop()
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
			if n := rt.Loop().Stats().Stalls; n != 0 {
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
