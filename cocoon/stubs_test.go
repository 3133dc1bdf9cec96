package cocoon

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// look is an expression that reads one state stub, and its expected value.
type look struct {
	expr string
	ok   func(v any) bool
}

func is(want any) func(any) bool { return func(v any) bool { return v == want } }

func between(from, to time.Duration) func(any) bool {
	return func(v any) bool { return from <= v.(time.Duration) && v.(time.Duration) <= to }
}

// aMomentAgo is what the clock says in UTC, now or a moment ago.
func aMomentAgo(part func(time.Time) int) func(any) bool {
	return func(v any) bool {
		now := time.Now().UTC()
		return v == int64(part(now)) || v == int64(part(now.Add(-time.Second)))
	}
}

// looker evaluates expressions inside the tasks that call see, and records which stubs they read.
type looker struct {
	t    *testing.T
	rt   *Runtime
	seen map[string]bool
}

func newLooker(t *testing.T, rt *Runtime) *looker {
	must(t, rt.RegisterState(map[string]any{"bool": false, "int": 0, "float": 0.0, "duration": time.Duration(0)}))
	return &looker{t, rt, map[string]bool{}}
}

// at evaluates the expression on the event that raise causes, and compares the result.
func (l *looker) at(on Trigger, tasks []string, path string, typ stubs.Type, raise func(), x look) {
	l.t.Helper()
	l.seen[path] = true
	r, err := l.rt.RegisterPolicy(Policy{Name: "look", On: on, Match: Match{Tasks: tasks}, Expr: fmt.Sprintf("set(%q, %s)", typ, x.expr)})
	if err != nil {
		l.t.Errorf("%s: %+v", path, err)
		return
	}
	raise()
	if v := l.rt.State(typ.String()); r.Stats().Evaluations == 0 || r.Stats().Errors > 0 || !x.ok(v) {
		l.t.Errorf("%s: %s is %v, %+v", path, x.expr, v, r.Stats())
	}
	r.Cancel()
}

// task reads a stub from inside the task of that name.
func (l *looker) task(name, path string, typ stubs.Type, x look) {
	l.t.Helper()
	l.at(OnNotify("look"), []string{name}, path, typ, func() { l.rt.Notify("look", 2.5) }, x)
}

// Every state stub of the catalogue has the value described in the catalogue, in a task that has
// waited, run, been switched out and blocked, each for a different time, while other tasks wait and
// one is suspended under it.
func TestEveryStateStub(t *testing.T) {
	made := time.Now()
	rt := start(t, Config{Slots: 2, StallAfter: -1, MaxBypass: -1})
	madeBy := time.Now()
	rt.Loop().cfg.Exclusive = true // the job registers policies, which may wait, and keeps its slot meanwhile
	l := newLooker(t, rt)
	must(t, rt.RegisterTenants(Tenants{Label: "tenant"}))
	must(t, errors.Join(rt.RegisterPreemptibleFunc("scan"), rt.RegisterPreemptibleFunc("job"), rt.RegisterSafeFunc("job"), rt.RegisterSafeFunc("get")))
	_, err := rt.RegisterDefaultPreemption(OnEnqueue)
	must(t, err)
	register(t, rt, Policy{Name: "refuse", On: OnEnqueue, Match: Match{Tasks: []string{"refused"}}, Expr: `throw("no")`})
	gold := WithLabel(background, "tenant", "gold")
	preemption(t, rt.Run(gold, "refused", idle))

	until := make(chan struct{})
	run := func(ctx context.Context, name string, fn func(context.Context) error) *Handle {
		return begun(t, rt.Loop(), ctx, name, fn)
	}
	holder := run(background, "holder", func(context.Context) error { return keepSlot(until) })
	scan := run(background, "scan", func(ctx context.Context) error { spin(ctx, until); return nil })
	deadline := time.Now().Add(time.Hour)
	timed, cancel := context.WithDeadline(WithPriority(gold, -7), deadline)
	defer cancel()
	job := run(timed, "job", func(ctx context.Context) error {
		// On top of the scan. A get switches the job out once, and a block lets the scan run again.
		get := rt.Go(background, "get", func(context.Context) error { time.Sleep(2 * time.Millisecond); return nil })
		for TaskOf(ctx).Account().Preemptions == 0 {
			SafePoint(ctx)
		}
		must(t, get.Wait(ctx))
		account := func() Account { return TaskOf(ctx).Account() }
		held := func() time.Duration { a := account(); return a.Running + a.Starved } // a slot
		unblock0 := held()
		Block(ctx, func() error { time.Sleep(5 * time.Millisecond); return nil })
		unblock1 := held()

		rt.Loop().Hold() // tasks that arrive now wait, and no task makes room for them
		defer rt.Loop().Release()
		queued0 := time.Now()
		rt.Go(gold, "get", idle)
		eventually(t, "the first to wait", func() bool { return rt.Loop().Stats().Queued == 1 })
		queued1 := time.Now()
		for _, name := range []string{"get", "a", "b", "c"} {
			rt.Go(background, name, idle)
		}
		eventually(t, "all to wait", func() bool { return rt.Loop().Stats().Queued == 5 })

		outer0 := account().Running
		return inSection(ctx, "outer", func() error {
			outer1 := account().Running
			work(time.Millisecond)
			inner0 := account().Running
			return inSection(ctx, "inner", func() error {
				inner1 := account().Running
				// within reports whether a running time began between two given ones.
				within := func(from0, from1 time.Duration) func(any) bool {
					before := account().Running
					return func(v any) bool { return between(before-from1, account().Running-from0)(v) }
				}
				heldWithin := func(from0, from1 time.Duration) func(any) bool {
					before := held()
					return func(v any) bool { return between(before-from1, held()-from0)(v) }
				}
				a := account()
				tenant := func() time.Duration { return rt.Loop().Stats().Tenants["gold"].Running }
				task := func(path string, typ stubs.Type, expr string, ok func(any) bool) {
					t.Helper()
					l.task("job", path, typ, look{expr, ok})
				}
				task("task.name", stubs.Bool, `task.name == "job"`, is(true))
				task("task.kind", stubs.Bool, `task.kind == "both"`, is(true))
				task("task.section", stubs.Bool, `task.section == "inner"`, is(true))
				task("task.section_running", stubs.Duration, `task.section_running`, within(inner0, inner1))
				task("task.sections", stubs.Duration, `task.sections["outer"]`, within(outer0, outer1))
				task("task.sections", stubs.Duration, `task.sections["inner"]`, within(inner0, inner1))
				task("task.sections", stubs.Duration, `task.sections["none"]`, is(time.Duration(0)))
				task("task.running", stubs.Duration, `task.running`, within(0, 0))
				task("task.elapsed", stubs.Duration, `task.elapsed - task.waited - task.blocked`, heldWithin(0, 0))
				task("task.waited", stubs.Duration, `task.waited`, is(a.Queued+a.Suspended))
				task("task.blocked", stubs.Duration, `task.blocked`, is(a.Blocked))
				task("task.preemptions", stubs.Int, `task.preemptions`, is(a.Preemptions))
				task("task.priority", stubs.Int, `task.priority`, is(int64(-7)))
				// The task arrived before these policies, so another goroutine reads from its
				// context now.
				asked := func(path string, typ stubs.Type, ok func(any) bool) {
					t.Helper()
					l.at(OnNotify("look"), []string{"job"}, path, typ, func() {
						eventually(t, "the context to be asked", func() bool { rt.Notify("look", 0); return ok(rt.State(typ.String())) })
					}, look{path, ok})
				}
				asked("task.deadline", stubs.Duration, func(v any) bool { return between(time.Until(deadline), time.Hour)(v) })
				task("task.labels", stubs.Bool, `task.labels["tenant"] == "gold" and task.labels.other == ""`, is(true))
				task("task.stack", stubs.Bool, `count(task.stack, true) == 2 and "outer" in task.stack and "inner" in task.stack`, is(true))
				task("task.background", stubs.Bool, `task.background`, is(false))
				task("task.slice", stubs.Duration, `task.slice`, heldWithin(unblock0, unblock1))

				task("tenant.name", stubs.Bool, `tenant.name == "gold"`, is(true))
				task("tenant.tasks", stubs.Int, `tenant.tasks`, is(int64(2)))
				task("tenant.queued", stubs.Int, `tenant.queued`, is(int64(1)))
				task("tenant.busy", stubs.Int, `tenant.busy`, is(int64(1)))
				before := tenant()
				task("tenant.running", stubs.Duration, `tenant.running`, func(v any) bool { return between(before, tenant())(v) })
				task("tenant.thrown", stubs.Int, `tenant.thrown`, is(int64(1)))

				task("queue.length", stubs.Int, `queue.length`, is(int64(5)))
				task("queue.safe", stubs.Int, `queue.safe`, is(int64(2)))
				task("queue.suspended", stubs.Int, `queue.suspended`, is(int64(1)))
				oldest := time.Since(queued1)
				task("queue.oldest", stubs.Duration, `queue.oldest`, func(v any) bool { return between(oldest, time.Since(queued0))(v) })
				task("loop.name", stubs.Bool, `loop.name == "default"`, is(true))
				task("loop.slots", stubs.Int, `loop.slots`, is(int64(2)))
				task("loop.busy", stubs.Int, `loop.busy`, is(int64(2)))
				task("loop.utilization", stubs.Float, `loop.utilization`, func(v any) bool { return 0 < v.(float64) && v.(float64) <= 1 })
				task("runtime.tasks", stubs.Int, `runtime.tasks`, is(int64(8)))
				uptime := time.Since(madeBy)
				task("clock.minute", stubs.Int, "clock.minute", aMomentAgo(time.Time.Minute))
				task("clock.hour", stubs.Int, "clock.hour", aMomentAgo(time.Time.Hour))
				task("clock.weekday", stubs.Int, "clock.weekday", aMomentAgo(func(t time.Time) int { return int(t.Weekday()) }))
				task("runtime.uptime", stubs.Duration, `runtime.uptime`, func(v any) bool { return between(uptime, time.Since(made))(v) })
				task("event.name", stubs.Bool, `event.name == "look"`, is(true))
				task("event.value", stubs.Float, `event.value`, is(2.5))

				cancel()
				asked("task.cancelled", stubs.Bool, is(true))
				return nil
			})
		})
	})
	must(t, job.Wait(background))
	close(until)
	must(t, errors.Join(holder.Wait(background), scan.Wait(background)))
	eventually(t, "the others to end", func() bool { return rt.Stats().Tasks == 0 })
	l.seeArrivals()
	l.seeBackground()
	l.seeProcess()
	l.seeFigures()
	for _, s := range stubs.Catalogue {
		if !l.seen[s.Path] {
			t.Errorf("this test reads no value of %s: add a look to it", s.Path)
		}
	}
}

// seeArrivals looks at an arriving task, and at a task that comes back from a block.
func (l *looker) seeArrivals() {
	at := time.Now().Add(time.Hour)
	ctx, cancel := context.WithDeadline(WithPriority(WithLabel(background, "tenant", "tin"), 9), at)
	defer cancel()
	arriving := func(path string, typ stubs.Type, expr string, ok func(any) bool) {
		l.t.Helper()
		l.at(OnEnqueue, []string{"get"}, path, typ, func() { must(l.t, l.rt.Run(WithCost(ctx, time.Minute), "get", idle)) }, look{expr, ok})
	}
	arriving("arriving.name", stubs.Bool, `arriving.name == "get"`, is(true))
	arriving("arriving.kind", stubs.Bool, `arriving.kind == "safe"`, is(true))
	arriving("arriving.priority", stubs.Int, `arriving.priority`, is(int64(9)))
	arriving("arriving.deadline", stubs.Duration, `arriving.deadline`, func(v any) bool { return between(time.Until(at), time.Hour)(v) })
	arriving("arriving.cost", stubs.Duration, `arriving.cost`, is(time.Minute))
	arriving("arriving.running", stubs.Duration, `arriving.running`, is(time.Duration(0)))
	arriving("arriving.labels", stubs.Bool, `arriving.labels["tenant"] == "tin"`, is(true))
	arriving("task.name", stubs.Bool, `task.name == "" and task.kind == "atomic" and task.deadline > duration("1000000h")`, is(true))
	// The more a tenant was charged, the later is its turn: a minute each for the next tasks, which
	// wait together.
	l.rt.Loop().Hold()
	var first time.Duration
	for i := range 2 {
		l.at(OnEnqueue, []string{"get"}, "arriving.virtual_time", stubs.Duration, func() {
			l.rt.Go(WithCost(ctx, time.Minute), "get", idle)
			eventually(l.t, "it to wait", func() bool { return l.rt.Loop().Stats().Queued == i+1 })
		}, look{`arriving.virtual_time`, func(v any) bool {
			if i == 0 {
				first = v.(time.Duration)
			}
			return v == first+time.Duration(i)*time.Minute
		}})
	}
	l.rt.Loop().Release()
	eventually(l.t, "both to end", func() bool { return l.rt.Stats().Tasks == 0 })
}

// seeBackground looks at a background task.
func (l *looker) seeBackground() {
	r := register(l.t, l.rt, policy.Background("backup"))
	defer r.Cancel()
	must(l.t, l.rt.Run(background, "backup", func(context.Context) error {
		l.task("backup", "task.background", stubs.Bool, look{`task.background`, is(true)})
		l.task("backup", "loop.busy", stubs.Int, look{`loop.busy`, is(int64(1))})
		return nil
	}))
}

// seeProcess looks at the sampled values. They are up to date although no time policy keeps the
// timer running. Then it looks at the timer itself.
func (l *looker) seeProcess() {
	const size = 64 << 20
	for _, x := range []struct {
		path, expr string
		typ        stubs.Type
		ballast    int
		ok         func(v any) bool
	}{
		{"runtime.goroutines", `runtime.goroutines`, stubs.Int, 0, func(v any) bool { return v.(int64) > 500 }},
		{"runtime.heap", `runtime.heap / bytes("1B")`, stubs.Float, size, func(v any) bool { return v.(float64) > size }},
		{"runtime.cpu", `runtime.cpu`, stubs.Float, 0, func(v any) bool { return v.(float64) > 0.01 }},
	} {
		l.at(OnNotify("look"), nil, x.path, x.typ, func() {
			time.Sleep(20 * time.Millisecond) // the samples are old now
			done := make(chan struct{})
			var crowd sync.WaitGroup
			for range 500 {
				crowd.Go(func() { <-done })
			}
			ballast := make([]byte, max(1, x.ballast))
			for begin := time.Now(); time.Since(begin) < 20*time.Millisecond; {
				ballast[len(ballast)-1]++
			}
			l.rt.Notify("look", 0)
			runtime.KeepAlive(ballast)
			close(done)
			crowd.Wait()
		}, look{x.expr, x.ok})
	}
	tick := register(l.t, l.rt, Policy{Name: "tick", On: Every(time.Millisecond), Expr: `task.preemptions > 1000000 ? throw("x") : continue()`})
	defer tick.Cancel()
	must(l.t, l.rt.Run(background, "job", func(ctx context.Context) error {
		eventually(l.t, "ticks", func() bool { return tick.Stats().Evaluations > 2 })
		l.task("job", "runtime.sched_latency", stubs.Duration, look{`runtime.sched_latency`, func(v any) bool { return v.(time.Duration) > 0 }})
		return nil
	}))
}
