package cocoon

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/notify"
)

// countTimer counts the runs of a new runtime's timer.
func countTimer(rt *Runtime) *atomic.Int64 {
	n := new(atomic.Int64)
	rt.timer = notify.NewTimer(func(now int64) int64 {
		n.Add(1)
		return rt.onTimer(now)
	})
	return n
}

// The timer checks a time limit about once for each task that reaches it, and not before; and the
// throw comes when the limit is exceeded.
func TestLimitIsLookedAtOnce(t *testing.T) {
	const limit = 20 * time.Millisecond
	for name, in := range map[string]func(ctx context.Context) error{
		"task": spinForever,
		"section": func(ctx context.Context) error {
			_, err := Section(ctx, "part", func() (int, error) { return 0, spinForever(ctx) })
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 1, StallAfter: -1})
			wakes := countTimer(rt)
			what := map[string]string{"task": "job", "section": "part"}[name]
			r, err := rt.RegisterTimeLimit(TimeLimit{Func: what, Limit: limit, Interval: time.Hour})
			must(t, err)
			all := time.Duration(0)
			throws := longtest.Count(5, 2)
			for range throws {
				begin := time.Now()
				var pe *PreemptedError
				if err := rt.Run(background, "job", in); !errors.As(err, &pe) || pe.Running <= limit {
					t.Fatalf("%v", err)
				}
				took := time.Since(begin)
				if all += took; took < limit {
					t.Errorf("thrown into after %v", took)
				}
			}
			// Each throw also wakes the timer 0.5 ms later, in case the task does not respond. A task
			// that has to share its processor is sampled for as long as that takes.
			most := max(40*int64(throws), 2*all.Milliseconds())
			if n, w := r.Stats().Evaluations, wakes.Load(); n > 4*int64(throws) || w > most {
				t.Errorf("%d evaluations and %d runs of the timer for %d throws in %v", n, w, throws, all)
			}
		})
	}
}

// A policy that has thrown into a section looks at the task again when the throw has arrived.
func TestHorizonAfterAThrow(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	register(t, rt, Policy{Name: "p", On: Every(time.Millisecond), Expr: `task.running > duration("2ms") and task.section == "part" ? throw("x") : continue()`})
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		for range 3 {
			_, err := Section(ctx, "part", func() (int, error) { return 0, spinForever(ctx) })
			preemption(t, err)
		}
		return nil
	}))
}

// However many tasks end long before their limit, they wake the timer only now and then. Tasks to
// which no policy refers never wake it.
func TestShortTasksDoNotWakeTheTimer(t *testing.T) {
	for name, guarded := range map[string]bool{"open slots": false, "under the lock": true} {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 2, StallAfter: -1})
			wakes := countTimer(rt)
			r, err := rt.RegisterTimeLimit(TimeLimit{Func: "GET /report", Limit: time.Hour})
			must(t, err)
			if guarded {
				register(t, rt, Policy{Name: "seen", On: OnStart, Expr: `cancel()`, Mode: Observe})
			}
			eventually(t, "the timer to rest", func() bool { return rt.Loop().tickAt.Load() == notify.Never })
			before := wakes.Load()
			for range 5000 {
				must(t, rt.Run(background, "GET /hello", idle))
			}
			if n := wakes.Load() - before; n != 0 || rt.Loop().tickAt.Load() != notify.Never {
				t.Errorf("the timer ran %d times for tasks of which no policy speaks", n)
			}
			for range 5000 {
				must(t, rt.Run(background, "GET /report", idle))
			}
			if n := wakes.Load() - before; n != 0 {
				t.Errorf("the timer ran %d times long before the limit", n)
			}
			first := time.Duration(firstSample(int64(time.Hour)))
			if left := time.Duration(rt.Loop().tickAt.Load() - notify.Now()); left > first || left < first-time.Minute {
				t.Errorf("the timer comes in %v; want %v after the first", left, first)
			}
			if n := r.Stats().Evaluations; n != 0 {
				t.Errorf("%d evaluations", n)
			}
		})
	}
}

// A policy that refers to sections that no task has opened does nothing until a task opens one.
func TestLimitOnASectionThatComesLate(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "late section", Limit: 2 * time.Millisecond})
	must(t, err)
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		eventually(t, "the timer to rest", func() bool { return rt.Loop().tickAt.Load() == notify.Never })
		_, err := Section(ctx, "late section", func() (int, error) { return 0, spinForever(ctx) })
		preemption(t, err)
		return nil
	}))
}

// A task that reaches its limit in pieces, between blocks, is thrown into. The same holds for a
// task that waits until it is old, when it runs again.
func TestHorizonOfATaskThatBlocks(t *testing.T) {
	for name, condition := range map[string]string{
		"running": `task.running > duration("5ms")`,
		"elapsed": `task.elapsed > duration("5ms")`,
		"blocked": `task.blocked > duration("5ms")`,
		"slice":   `task.slice > duration("5ms")`,
	} {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 1, StallAfter: -1})
			register(t, rt, Policy{Name: "p", On: Every(time.Millisecond), Expr: condition + ` ? throw("x") : continue()`})
			preemption(t, rt.Run(background, "job", func(ctx context.Context) error {
				for range 8 {
					if err := Block(ctx, func() error { time.Sleep(time.Millisecond); return nil }); err != nil {
						return err
					}
					for begin := time.Now(); time.Since(begin) < time.Millisecond; {
						SafePoint(ctx)
					}
				}
				return spinForever(ctx)
			}))
		})
	}
}

// A task that comes back sets the timer by what its clocks have left, and a new task by its whole
// limit.
func TestTaskThatComesBackSetsTheTimer(t *testing.T) {
	const hour = int64(time.Hour)
	for condition, want := range map[string]int64{
		`task.running > duration("1h")`:                                    hour / 4,
		`task.slice > duration("1h")`:                                      hour,
		`task.elapsed > duration("10h")`:                                   hour*10 - hour*19/4,
		`task.elapsed > duration("5h")`:                                    hour / 4,
		`task.elapsed > duration("1h")`:                                    int64(time.Millisecond), // at its next tick
		`task.blocked > duration("5h")`:                                    notify.Never,
		`task.blocked > duration("1h")`:                                    int64(time.Millisecond),
		`task.running > duration("1h") and task.blocked > duration("5h")`:  notify.Never,
		`task.running > duration("1h") or task.elapsed > duration("10h")`:  hour / 4,
		`task.name == "job" and task.running > duration("1h")`:             hour / 4,
		`task.name == "other" and task.running > duration("1h")`:           notify.Never,
		`task.kind == "safe" and task.running > duration("1h")`:            notify.Never,
		`task.labels["l"] == "w" and task.running > duration("1h")`:        notify.Never,
		`loop.name == "default" and task.running > duration("1h")`:         hour / 4,
		`loop.name == "other" and task.running > duration("1h")`:           notify.Never,
		`task.sections["open"] > duration("1h")`:                           hour / 2,
		`task.sections["shut"] > duration("1h")`:                           hour,
		`task.sections["never opened by a task"] > duration("1h")`:         notify.Never,
		`task.section_running > duration("1h") and task.section == "shut"`: hour / 2,
	} {
		rt := start(t, Config{Slots: 1, StallAfter: -1})
		r := register(t, rt, Policy{Name: "p", On: Every(time.Millisecond), Expr: condition + ` ? throw("x") : continue()`})
		rt.meets("open")
		rt.meets("shut")
		l := rt.Loop()
		i := &imitation{t: t, l: l, b: r.now.on(l), now: notify.Now(), tasks: map[*strand]int64{}}
		l.lockAll()
		s := i.arrive("job", "v")
		i.now += hour / 4
		s.sections.push(rt.meets("open"), s.core.Ran(i.now))
		i.now += hour / 2
		i.block(s)
		i.now += 4 * hour
		i.b.due, i.b.looked = i.now, i.now
		l.tickAt.Store(i.now + hour/2) // for another task
		i.unblock(s)
		first := firstSample(l.leads.Load().lead(l.rt, s.task.class, s.core.Kind))
		if got, want := l.tickAt.Load()-i.now, min(want, first, hour/2); got < want || got-want > 2 {
			t.Errorf("%s: the timer is to come in %v; want %v", condition, time.Duration(got), time.Duration(want))
		}
		if got := l.soonest(s, i.now); got != notify.Never && got-i.now-want > 2 || got < i.now+want && want != notify.Never {
			t.Errorf("%s: it can first do something in %v; want %v", condition, time.Duration(got-i.now), time.Duration(want))
		}
		i.end(s)
		l.unlock()
	}
}

// If no task may start, a policy that refers to the loop sees how many tasks wait.
func TestLoopPolicySeesTasksThatWait(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	must(t, rt.RegisterState(map[string]any{"full": false}))
	register(t, rt, Policy{Name: "p", On: Every(time.Millisecond), Expr: `queue.length > 2 ? set("full", true) : continue()`})
	eventually(t, "the timer to rest", func() bool { return rt.Loop().tickAt.Load() == notify.Never })
	rt.Loop().Hold()
	var waiting []*Handle
	for range 3 {
		waiting = append(waiting, rt.Go(background, "job", idle))
	}
	eventually(t, "the policy to see them", func() bool { return rt.StateBool("full") })
	rt.Loop().Release()
	for _, h := range waiting {
		must(t, h.Wait(background))
	}
}
