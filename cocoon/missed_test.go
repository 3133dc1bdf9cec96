package cocoon

import (
	"context"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/notify"
)

// lastsBeyond returns after the timer has looked at the loop's time policies at least a millisecond
// after now. It is for a wait of the calling task.
func lastsBeyond(t *testing.T, l *Loop, now int64) {
	t.Helper()
	for l.ticked.Load() < now+int64(time.Millisecond) {
		l.tickBy(now) // the look at which nobody runs is the last one, otherwise
		time.Sleep(100 * time.Microsecond)
	}
}

// A task that waits whenever the timer looks is thrown into at the end of the wait in which its
// limit has passed.
func TestThrowAfterTheWaitThatPassesTheLimit(t *testing.T) {
	for name, p := range map[string]Policy{
		"horizon":  {On: Every(time.Hour), Expr: `task.elapsed > duration("1ms") ? throw("late") : continue()`},
		"running":  {On: Every(time.Millisecond), Expr: `task.elapsed > duration("1ms") and task.running >= duration("0s") ? throw("late") : continue()`},
		"blocked":  {On: Every(time.Millisecond), Expr: `task.blocked > duration("1ms") ? throw("late") : continue()`},
		"any tick": {On: Every(time.Millisecond), Expr: `task.section == "" and loop.slots > 0 ? throw("late") : continue()`},
		"effects":  {On: Every(time.Millisecond), Expr: `if task.elapsed > duration("1ms") { set("seen", true); throw("late") } else { continue() }`, State: map[string]any{"seen": false}},
	} {
		for wait, call := range map[string]func(context.Context, func() error) error{"Block": Block, "BlockCall": BlockCall} {
			t.Run(name+" "+wait, func(t *testing.T) {
				rt := start(t, Config{Slots: 1, StallAfter: -1})
				p.Name = "limit"
				register(t, rt, p)
				rounds := 0
				preemption(t, rt.Run(background, "job", func(ctx context.Context) error {
					for rounds = 0; rounds < 20; rounds++ {
						// The time is read inside the call: the task may lose its P before it is blocked.
						if err := call(ctx, func() error { lastsBeyond(t, rt.Loop(), notify.Now()); return ctx.Err() }); err != nil {
							return err
						}
						SafePoint(ctx)
					}
					return nil
				}))
				// One that has just arrived may have its first tick an interval later.
				if rounds > 1 {
					t.Errorf("it is thrown into after %d waits; want the first or second", rounds+1)
				}
			})
		}
	}
}

// The same holds for a task that waits unannounced, and for one that waits for its first slot.
func TestThrowAfterOtherWaits(t *testing.T) {
	limit := Policy{Name: "limit", On: Every(time.Hour), Expr: `task.name == "job" and task.elapsed > duration("1ms") ? throw("late") : continue()`}
	t.Run("unannounced", func(t *testing.T) {
		rt := start(t, Config{Slots: 1, StallAfter: -1})
		release := make(chan struct{})
		rounds := 0
		h := rt.Go(background, "job", func(ctx context.Context) error {
			<-release
			for rounds = range 3 {
				if err := BlockCall(ctx, ctx.Err); err != nil {
					return err
				}
			}
			return nil
		})
		eventually(t, "the task to lose its slot", func() bool {
			must(t, rt.Run(background, "other", idle))
			return rt.Loop().Stats().Parked == 1
		})
		register(t, rt, limit) // not before: the timer could find the task running
		lastsBeyond(t, rt.Loop(), notify.Now())
		close(release)
		preemption(t, h.Wait(background))
		if rounds > 1 { // the first call finds the throw, and the second fails
			t.Errorf("it made %d calls after its wait", rounds+1)
		}
	})
	t.Run("queue", func(t *testing.T) {
		rt := start(t, Config{Slots: 1, StallAfter: -1})
		register(t, rt, limit)
		release := taken(t, rt.Loop())
		began := false
		h := rt.Go(background, "job", func(ctx context.Context) error { began = true; return nil })
		eventually(t, "it to wait", func() bool { return rt.Loop().Stats().Queued == 1 })
		lastsBeyond(t, rt.Loop(), notify.Now())
		release()
		preemption(t, h.Wait(background))
		if began {
			t.Error("it began, though its limit had passed")
		}
	})
}

// A task whose horizon is far away evaluates nothing on its way back, and a policy of all ticks is
// evaluated at most once for each look of the timer.
func TestReturnsEvaluateLittle(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	far := register(t, rt, Policy{Name: "far", On: Every(time.Millisecond), Expr: `task.elapsed > duration("1h") ? throw("late") : continue()`})
	each := register(t, rt, Policy{Name: "each", On: Every(time.Hour), Expr: `task.elapsed > duration("100us") and task.cancelled ? throw("late") : continue()`})
	sw := register(t, rt, Policy{Name: "switch", On: Every(time.Hour), Expr: `task.elapsed > duration("100us") and task.section != "x" ? switch() : continue()`})
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		for range 10 {
			begin := notify.Now()
			must(t, BlockCall(ctx, func() error { lastsBeyond(t, rt.Loop(), begin); return nil }))
			for range 10 {
				must(t, BlockCall(ctx, func() error { return nil }))
			}
		}
		return nil
	}))
	if n := far.Stats().Evaluations; n != 0 {
		t.Errorf("a limit of an hour was evaluated %d times", n)
	}
	if n := each.Stats().Evaluations; n == 0 || n > 30 {
		t.Errorf("%d evaluations at 10 looks", n)
	}
	if n := sw.Stats().Evaluations; n > 10 {
		t.Errorf("%d evaluations of a policy that can only switch", n)
	}
}

// TestWaitBeforeMissedPolicies: policies that are made up for do not count the wait for the loop's
// lock just before as running, and count no time twice.
func TestWaitBeforeMissedPolicies(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		const wait = int64(20 * time.Millisecond)
		s := strandOf(ctx)
		for s.running(notify.Now()) < 2*wait {
		}
		s.loop.lockAll()
		defer s.loop.unlock()
		now := notify.Now()
		s.sampled = now - 2*wait // no sample since then
		before := s.core.Ran(now)
		s.excuse(now-wait, now)
		if off := before - s.core.Ran(now); off != wait {
			t.Errorf("%v of a wait of %v do not count as running", time.Duration(off), time.Duration(wait))
		}
		s.excuse(now-wait, now)
		if off := before - s.core.Ran(now); off != wait {
			t.Errorf("again, %v of a wait of %v", time.Duration(off), time.Duration(wait))
		}
		return nil
	}))
}
