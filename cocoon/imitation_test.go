package cocoon

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

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
	rng := rand.New(rand.NewPCG(11, uint64(longtest.Count(12, 19))))
	ticks, looks, acts := 0, 0, 0
	for range longtest.Count(400, 30) {
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
			s.would = nil // count each tick, not each task
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
		i.unseat(s)
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
	i.unseat(s)
	i.l.core.Block(&s.core, i.now)
	i.deliver()
}

// unseat takes a slot back. The task was sampled just before: the process uses none of the time
// that the imitation lets pass.
func (i *imitation) unseat(s *strand) {
	s.sampled = i.now
	i.l.unseat(s, i.now)
}

func (i *imitation) unblock(s *strand) {
	if i.l.core.Unblock(&s.core, i.now) {
		i.seated(s)
	}
}

func (i *imitation) seated(s *strand) {
	s.task.status.Store(uint32(Started))
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
		i.unseat(s)
		l.core.Exit(&s.core, i.now)
	}
	delete(i.tasks, s)
	i.deliver()
	s.sections.cut(0)
	s.end(i.now)
}
