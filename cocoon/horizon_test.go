package cocoon

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
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
			for range 5 {
				begin := time.Now()
				var pe *PreemptedError
				if err := rt.Run(background, "job", in); !errors.As(err, &pe) || pe.Running <= limit {
					t.Fatalf("%v", err)
				}
				if took := time.Since(begin); took < limit {
					t.Errorf("thrown into after %v", took)
				}
			}
			// Each throw also wakes the timer 0.5 ms later, in case the task does not respond.
			if n, w := r.Stats().Evaluations, wakes.Load(); n > 4*5 || w > 40*5 {
				t.Errorf("%d evaluations and %d runs of the timer for 5 throws", n, w)
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

// imitation is a loop on which the test simulates tasks and the clock.
type imitation struct {
	t     *testing.T
	rng   *rand.Rand
	l     *Loop
	b     *bound
	now   int64
	tasks map[*strand]int64 // since when they have had their slots
}

// randomCondition generates a condition on clocks and other stubs; some are false for long.
func randomCondition(rng *rand.Rand, depth int) string {
	pick := func(choices ...string) string { return choices[rng.IntN(len(choices))] }
	if depth > 0 && rng.IntN(3) > 0 {
		a, b := randomCondition(rng, depth-1), randomCondition(rng, depth-1)
		return pick(a+" and "+b, a+" and "+b, "("+a+" or "+b+")", "not ("+a+" and "+b+")", "("+a+" ? "+b+" : "+a+")")
	}
	clock := pick("task.running", "task.elapsed", "task.waited", "task.blocked", "task.slice", `task.sections["a"]`, `task.sections["b"]`,
		"task.section_running", "queue.oldest", "runtime.uptime")
	switch rng.IntN(5) {
	case 0:
		return pick("queue.length > 1", "loop.busy > 1", `task.name == "a"`, `task.name != "b"`, `task.kind in ["both", "safe"]`,
			`task.section == "a"`, "task.preemptions > 0", `task.labels["l"] == "v"`,
			`int(task.labels.l, 7) == 7`, `hash(task.name, 1) % 2 == 0`, "clock.hour < 12", `task.name in ["a", "c", "d", "e", "f", "g", "h", "i", "j"]`)
	case 1:
		return fmt.Sprintf(`%s %s %s`, clock, pick("*2 >", "/ 2 >=", "+ queue.oldest >"), length(rng))
	}
	return fmt.Sprintf(`%s %s %s`, clock, pick(">", ">=", ">", "<"), length(rng))
}

func length(rng *rand.Rand) string { return fmt.Sprintf(`duration("%dus")`, 1+rng.IntN(2000)) }

// TestTicksLeftOut simulates tasks that arrive, block, are switched out and open sections. It
// compares each tick of a policy with the result that an evaluation would have: the policy would do
// nothing at any skipped tick, and every tick at which it acts is made.
func TestTicksLeftOut(t *testing.T) {
	programs := 400
	if testing.Short() {
		programs = 100
	}
	rng := rand.New(rand.NewPCG(11, 12))
	ticks, looks, acts := 0, 0, 0
	for range programs {
		rt := start(t, Config{Slots: 2, StallAfter: -1})
		must(t, rt.RegisterPreemptibleFunc("a"))
		must(t, rt.RegisterSafeFunc("a"))
		must(t, rt.RegisterSafeFunc("b"))
		act := []string{`throw("x")`, "switch()", `set("n", state.n + 1)`}[rng.IntN(3)]
		r, err := rt.RegisterPolicy(Policy{
			Name: "p", On: Every(100 * time.Microsecond), Mode: Observe, State: map[string]any{"n": 0},
			Expr: randomCondition(rng, rng.IntN(4)) + " ? " + act + " : continue()",
		})
		if err != nil {
			continue // it can never act
		}
		for _, name := range []string{"a", "b"} {
			rt.meets(name)
		}
		i := &imitation{t: t, rng: rng, l: rt.Loop(), b: r.now.on(rt.Loop()), tasks: map[*strand]int64{}}
		n, k, a := i.play(r)
		ticks, looks, acts = ticks+n, looks+k, acts+a
		if t.Failed() {
			return
		}
	}
	t.Logf("%d ticks, %d looked at, verdicts or effects at %d", ticks, looks, acts)
	if looks > ticks*3/4 || acts < ticks/50 {
		t.Errorf("of %d ticks %d were looked at, %d came to something: the test sees too little", ticks, looks, acts)
	}
}

// play simulates some milliseconds.
func (i *imitation) play(r *Registration) (ticks, looks, acts int) {
	l, b := i.l, i.b
	l.lockAll()
	defer l.unlock()
	i.now = notify.Now()
	interval := b.interval.Load()
	b.due, b.looked, b.sawQuiet = i.now+interval, i.now, false
	l.tickAt.Store(i.now)
	grid, event, end := b.due, i.now, i.now+60*interval
	would := func() int64 { st := r.Stats(); return st.WouldThrow + st.WouldSwitch + st.WouldEffect }
	for i.now < end {
		i.now = min(grid, event, max(l.tickAt.Load(), i.now))
		if i.now == event {
			i.happen()
			event += int64(i.rng.IntN(int(2 * interval)))
		}
		must, may := i.acting(interval)
		for s := range i.tasks {
			s.would = s.would[:0] // count each tick, not each task
		}
		looked, before := l.tickAt.Load() <= i.now, would()
		if looked {
			if next := l.ticks(i.now, cpuSample{}); next != l.tickAt.Load() {
				i.t.Fatalf("the timer comes at %d, the loop wants it at %d", next, l.tickAt.Load())
			}
			looks++
		}
		did := int(would() - before)
		if i.now == grid {
			if ticks++; may > 0 {
				acts++
			}
			if did < must || did > may {
				i.t.Fatalf("%s\nat a tick it does something about %d tasks; want %d to %d\nways %s", b.version.spec.Expr, did, must, may, describe(b.version.ways))
			}
			grid += interval
		}
	}
	for len(i.tasks) > 0 || l.live != nil {
		i.end(l.live)
	}
	return ticks, looks, acts
}

// describe formats ways for an error.
func describe(ways []analyzer.Way) string {
	var b strings.Builder
	for _, w := range ways {
		for _, c := range w.Clocks {
			fmt.Fprintf(&b, "%v %s %v, ", stubs.Catalogue[c.Read.Stub].Path, c.Read.Key, time.Duration(c.Bound))
		}
		fmt.Fprintf(&b, "%d fixed; ", len(w.Fixed))
	}
	return b.String()
}

// acting returns for about how many tasks the policy would act now, and for how many of them it
// must act, because they have run for an interval. For the rest its first tick comes within that
// time.
func (i *imitation) acting(interval int64) (must, may int) {
	ask := func(s *strand) bool {
		i.l.view.about(s, nil)
		i.l.view.fill(i.l, i.b.reads, i.b.eval.Snapshot(), i.now)
		out, err := i.b.eval.Eval()
		if out.Decision == stubs.Switch {
			_, ok := i.l.core.SwitchAt(&s.core, i.now)
			return ok
		}
		return err == nil && (out.Decision != stubs.Continue || out.Fired != 0)
	}
	if !i.b.perTask {
		if ask(nil) {
			may = 1
		}
		return 0, may // it may have seen the quiet loop
	}
	i.l.running(func(s *strand) bool {
		if i.b.concerns(s) && ask(s) {
			may++
			if i.now-i.tasks[s] >= interval {
				must++
			}
		}
		return true
	})
	return must, may
}

// happen makes one random event happen to a task, or a task arrive.
func (i *imitation) happen() {
	l := i.l
	var s *strand
	for n := i.rng.IntN(6); l.live != nil && n >= 0; n-- {
		if s = l.live; n > 0 && s.next != nil {
			s = s.next
		}
	}
	switch n := i.rng.IntN(10); {
	case s == nil || n < 3:
		i.arrive([]string{"a", "b", "c"}[i.rng.IntN(3)], []string{"v", ""}[i.rng.IntN(2)])
	case s.core.State().String() == "blocked":
		i.unblock(s)
	case !s.onSlot():
	case n < 5:
		i.end(s)
	case n < 6:
		i.block(s)
	case n < 7 && l.core.MaySwitch(&s.core, i.now):
		l.unseat(s, i.now)
		l.core.Suspend(&s.core, i.now)
		i.deliver()
	case n < 9:
		s.sections.push(l.rt.meets([]string{"a", "b"}[i.rng.IntN(2)]), s.core.Ran(i.now))
	default:
		s.sections.cut(max(0, s.sections.depth.Load()-1))
	}
}

func (i *imitation) arrive(name, label string) *strand {
	l := i.l
	ctx := WithLabel(background, "l", label)
	up, attrs := scopeOf(ctx)
	s := l.idle()
	t := s.newTask(ctx, up, attrs, name)
	granted, _ := l.core.Arrive(&s.core, i.now)
	s.begin(t)
	s.enlist()
	if granted {
		i.seated(s)
	} else {
		l.armWaiting(i.now)
	}
	return s
}

func (i *imitation) block(s *strand) {
	i.l.unseat(s, i.now)
	i.l.core.Block(&s.core, i.now)
	i.deliver()
}

func (i *imitation) unblock(s *strand) {
	if i.l.core.Unblock(&s.core, i.now) {
		i.seated(s)
	}
}

func (i *imitation) seated(s *strand) {
	i.l.seat(s, i.now)
	i.tasks[s] = i.now
}

// deliver seats the tasks that were granted a slot. No goroutine waits for it.
func (i *imitation) deliver() {
	for _, t := range i.l.core.Granted() {
		i.seated(t.Owner.(*strand))
	}
}

func (i *imitation) end(s *strand) {
	l := i.l
	switch {
	case s.core.State().String() == "queued":
		l.core.Withdraw(&s.core, i.now)
	default:
		if s.core.State().String() == "suspended" || s.core.State().String() == "ready" {
			i.t.Skip()
		}
		l.unseat(s, i.now)
		l.core.Exit(&s.core, i.now)
	}
	delete(i.tasks, s)
	i.deliver()
	s.sections.cut(0)
	s.end(i.now)
}
