package cocoon

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/stubs"
)

// reader is a policy that reads all that is measured, and does nothing: while it is in force, it is
// measured.
var reader = Policy{Name: "reader", On: OnExit, Expr: `
	queue.wait(0.99) + class.wait(0.5) + class.service(0.5) + loop.service(0.5) + class.running_mean + queue.cost > duration("2000000h")
	and class.tasks > 1000000 and loop.rate > 1000000 ? cancel() : continue()`}

// seeFigures looks at what is measured of a class and of the loop.
func (l *looker) seeFigures() {
	t, rt := l.t, start(l.t, Config{Slots: 1, StallAfter: -1})
	must(t, rt.RegisterTenants(Tenants{Label: "tenant"}))
	f := newLooker(t, rt)
	f.seen = l.seen
	register(t, rt, reader)
	register(t, rt, Policy{Name: "tenants", On: OnExit, Expr: `tenant.rate > 1000000 ? cancel() : continue()`})
	gate := make(chan struct{})
	holder := begun(t, rt.Loop(), background, "holder", func(context.Context) error { return keepSlot(gate) })
	const waits, runs = 20 * time.Millisecond, 2 * time.Millisecond
	ctx := WithLabel(WithCost(background, time.Minute), "tenant", "tin")
	var all []*Handle
	come := func() {
		all = append(all, rt.Go(ctx, "get", func(context.Context) error { work(runs); return nil }))
		eventually(t, "it to wait", func() bool { return rt.Loop().Stats().Queued == len(all) })
	}
	waiting := func(path string, typ stubs.Type, ok func(any) bool) {
		f.at(OnEnqueue, []string{"get"}, path, typ, come, look{path, ok})
	}
	waiting("class.queued", stubs.Int, is(int64(1)))
	waiting("class.tasks", stubs.Int, is(int64(2)))
	waiting("class.busy", stubs.Int, is(int64(0)))
	waiting("queue.cost", stubs.Duration, is(4*time.Minute))
	aboutTenths := func(n float64) func(any) bool {
		return func(v any) bool { return n/10-0.1 < v.(float64) && v.(float64) <= n/10 }
	}
	waiting("tenant.rate", stubs.Float, aboutTenths(5))
	waiting("loop.rate", stubs.Float, aboutTenths(7)) // with the holder
	f.task("holder", "class.busy", stubs.Int, look{"class.busy", is(int64(1))})
	time.Sleep(waits)
	close(gate)
	for _, h := range append(all, holder) {
		must(t, h.Wait(background))
	}
	ended := func(path, expr string, least time.Duration) {
		f.at(OnEnqueue, []string{"get"}, path, stubs.Duration, func() { must(t, rt.Run(ctx, "get", func(context.Context) error { work(runs); return nil })) },
			look{expr, between(least, time.Minute)})
	}
	ended("class.running_mean", "class.running_mean", runs*9/10)
	ended("class.service", "class.service(0.25)", runs*9/10)
	ended("loop.service", "loop.service(0.25)", runs*9/10)
	ended("class.waited_mean", "class.waited_mean", waits/4)
	ended("class.wait", "class.wait(0.9)", waits)
	ended("queue.wait", "queue.wait(0.9)", waits)
	f.at(OnEnqueue, []string{"get"}, "class.busy", stubs.Int, func() { must(t, rt.Run(ctx, "get", idle)) }, look{"class.busy", is(int64(1))})
	f.at(OnEnqueue, []string{"get"}, "queue.cost", stubs.Duration, func() { must(t, rt.Run(ctx, "get", idle)) }, look{"queue.cost", is(time.Duration(0))})
}

// meterOf returns what a loop measures, or nil.
func meterOf(l *Loop) *meter {
	l.lockAll()
	defer l.unlock()
	return l.meter
}

// A loop without a policy that reads figures measures nothing, and its slots are open; policies
// that are off read nothing.
func TestFiguresCostOnlyTheirReaders(t *testing.T) {
	rt := start(t, Config{Slots: 2})
	other, err := rt.NewLoop(LoopConfig{Name: "other", Slots: 1})
	must(t, err)
	open := func(l *Loop) bool {
		l.lock()
		defer l.unlock()
		l.open()
		return l.core.Opened() > 0
	}
	if meterOf(rt.Loop()) != nil || !open(rt.Loop()) {
		t.Error("a loop measures something at first")
	}
	p := Policy{Name: "p", On: Every(time.Hour), Match: Match{Loops: []string{"default"}}, Expr: `class.busy > 3 ? throw("x") : continue()`}
	r := register(t, rt, p)
	if m := meterOf(rt.Loop()); m == nil || len(m.class) != 1 || m.rates || m.costs || m.series != nil || open(rt.Loop()) {
		t.Errorf("%+v", m)
	}
	if meterOf(other) != nil || !open(other) {
		t.Error("another loop measures something")
	}
	must(t, r.SetMode(Off))
	if meterOf(rt.Loop()) != nil || !open(rt.Loop()) {
		t.Error("a policy that is off has something measured")
	}
	must(t, r.SetMode(Observe))
	p.Expr = `queue.wait(0.5) > duration("1s") ? switch() : continue()`
	must(t, r.Update(p))
	if m := meterOf(rt.Loop()); m == nil || m.class != nil || len(m.loop) != 1 {
		t.Errorf("%+v", m)
	}
	r.Cancel()
	if meterOf(rt.Loop()) != nil || !open(rt.Loop()) {
		t.Error("a policy that has gone has something measured")
	}
}

// A refused task has no time in the queue. A task that leaves the queue because its context ends
// has one.
func TestTimeInTheQueue(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	register(t, rt, reader)
	register(t, rt, Policy{Name: "no", On: OnEnqueue, Match: Match{Tasks: []string{"refused"}}, Expr: `throw("no")`})
	m := meterOf(rt.Loop())
	count := func(name string) (waited mean) {
		rt.Loop().lockAll()
		defer rt.Loop().unlock()
		if a := m.classes[stubs.Intern(name)]; a != nil {
			waited = a.waited
		}
		return waited
	}
	preemption(t, rt.Run(background, "refused", idle)) // finds a free slot
	gate := make(chan struct{})
	holder := begun(t, rt.Loop(), background, "holder", func(ctx context.Context) error {
		must(t, rt.Run(ctx, "nested", idle))
		return keepSlot(gate)
	})
	preemption(t, rt.Run(background, "refused", idle)) // would have to wait
	ctx, cancel := context.WithCancel(background)
	given := rt.Go(ctx, "given up", idle)
	eventually(t, "one that waits", func() bool { return rt.Loop().Stats().Queued == 1 })
	time.Sleep(5 * time.Millisecond)
	cancel()
	if err := given.Wait(background); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(gate)
	must(t, holder.Wait(background))
	for name, want := range map[string]bool{"refused": false, "nested": false, "holder": true, "given up": true} {
		if got := count(name); got.some != want {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := count("given up"); got.ns < int64(5*time.Millisecond) {
		t.Errorf("given up after %v", time.Duration(got.ns))
	}
}

// Each task that comes counts once in the rates, whether it nests, waits or is refused.
func TestArrivalsCountOnce(t *testing.T) {
	rt := start(t, Config{Slots: 1, MaxQueue: 1, StallAfter: -1})
	register(t, rt, reader)
	register(t, rt, Policy{Name: "no", On: OnEnqueue, Match: Match{Tasks: []string{"refused"}}, Expr: `throw("no")`})
	m := meterOf(rt.Loop())
	gate := make(chan struct{})
	holder := begun(t, rt.Loop(), background, "holder", func(ctx context.Context) error {
		must(t, rt.Run(ctx, "nested", idle))
		return keepSlot(gate)
	})
	waiting := rt.Go(background, "waits", idle)
	eventually(t, "one that waits", func() bool { return rt.Loop().Stats().Queued == 1 })
	if err := rt.Run(background, "too many", idle); !errors.Is(err, ErrOverloaded) {
		t.Error(err)
	}
	close(gate)
	must(t, errors.Join(holder.Wait(background), waiting.Wait(background)))
	preemption(t, rt.Run(background, "refused", idle))
	rt.Loop().lockAll()
	defer rt.Loop().unlock()
	if got := m.arrived.value(0) * 10; math.Abs(got-5) > 0.5 {
		t.Errorf("%v arrivals, want 5", got)
	}
}

// The quantiles that a policy reads continue when a policy that reads other quantiles comes,
// changes or goes.
func TestFiguresSurviveExchanges(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"wait": time.Duration(0), "service": time.Duration(0)}))
	const look = `set("wait", queue.wait(0.5)); set("service", class.service(0.5))`
	register(t, rt, Policy{Name: "look", On: OnEnqueue, Match: Match{Tasks: []string{"job"}}, Expr: look})
	see := func() (wait, service time.Duration) {
		t.Helper()
		must(t, rt.Run(background, "job", func(context.Context) error { work(3 * time.Millisecond); return nil }))
		return rt.State("wait").(time.Duration), rt.State("service").(time.Duration)
	}
	for range 3 {
		see()
	}
	check := func(when string) {
		t.Helper()
		if _, service := see(); service < 2900*time.Microsecond || service > time.Minute {
			t.Errorf("%s the quantile is %v", when, service)
		}
	}
	check("at first")
	r := register(t, rt, Policy{Name: "more", On: OnEnqueue,
		Expr: `class.service(0.9) + class.service(0.1) + queue.wait(0.1, duration("1s")) + class.wait(0.2) > duration("1000h") ? throw("x") : continue()`})
	check("with another policy")
	must(t, r.Update(Policy{Name: "more", On: OnEnqueue, Expr: `class.service(0.5, duration("1m")) > duration("1000h") ? throw("x") : continue()`}))
	check("with yet another")
	r.Cancel()
	check("without it")
}

// While policies that read figures come, change and go, tasks come and go on two loops.
func TestFiguresUnderLoad(t *testing.T) {
	rt, file := start(t, Config{Slots: 2}), newPolicyFile(t)
	other, err := rt.NewLoop(LoopConfig{Name: "other", Slots: 1})
	must(t, err)
	version := func(n int) string {
		return fmt.Sprintf(`
states: {n: %d}
policies:
  - {name: count, on: exit, expr: 'add("n", 1)'}
  - {name: reads, on: enqueue, expr: %s}
`, n%3, []string{
			`'continue()'`,
			`'class.busy > 100000 or rate("n", duration("1s")) > 1e18 ? throw("x") : continue()'`,
			`'queue.wait(0.99) > duration("1000h") or class.wait(0.5) > duration("1000h") or average("n", duration("1s")) > 1e18 ? throw("x") : continue()'`,
			`'class.service(0.5) > duration("1000h") or queue.cost > duration("1000h") or loop.rate > 1e9 or rate("n", duration("2s")) > 1e18 ? throw("x") : continue()'`,
		}[n%4])
	}
	must(t, file.load(t, rt, version(0)))
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	var crowd sync.WaitGroup
	for i, l := range []*Loop{rt.Loop(), other, rt.Loop(), other, rt.Loop(), other} {
		crowd.Go(func() {
			for k := 0; ctx.Err() == nil; k++ {
				err := l.Run(ctx, "job"+strconv.Itoa((i+k)%5), func(ctx context.Context) error {
					SafePoint(ctx)
					if k%7 == 0 {
						return Block(ctx, func() error { return nil })
					}
					return l.Run(ctx, "inner", idle)
				})
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
					return
				}
			}
		})
	}
	for n := range longtest.Count(300, 12) {
		must(t, file.load(t, rt, version(n)))
		must(t, rt.Policy("reads").SetMode(Mode(n%3)))
		must(t, rt.Policy("count").SetMode(Mode(n/2%2)))
	}
	must(t, file.load(t, rt, version(1)))
	must(t, rt.Policy("reads").SetMode(Enforce))
	cancel()
	within(t, "the crowd", crowd.Wait)
	for _, l := range []*Loop{rt.Loop(), other} {
		l.lockAll()
		for id, a := range l.meter.classes {
			if a.Live() != 0 || a.Busy() != 0 || a.Waiting() != 0 {
				t.Errorf("loop %s: %v is left with %+v", l.Name(), id, a.Tally)
			}
		}
		l.unlock()
	}
	if n := (*rt.states.Load())["n"].String(); strings.Count(n, "trend") != 1 || !strings.Contains(n, "trend with 2 users") {
		t.Errorf("%v; want one trend with 2 users", n)
	}
	must(t, file.load(t, rt, version(4)))
	if n := (*rt.states.Load())["n"].String(); strings.Contains(n, "trend") {
		t.Errorf("%v; want no trend, because no policy reads one", n)
	}
}

// queue.cost learns the running time of earlier tasks of a name. A task that returns from a block
// counts with the rest of its time.
func TestQueueCostIsLearned(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	must(t, rt.RegisterState(map[string]any{"cost": time.Duration(0)}))
	register(t, rt, Policy{Name: "look", On: OnNotify("look"), Expr: `set("cost", queue.cost)`})
	cost := func() time.Duration { rt.Notify("look", 0); return rt.State("cost").(time.Duration) }
	job := func(ctx context.Context) error { return workFor(ctx, 5*time.Millisecond) }
	must(t, rt.Run(background, "job", job))
	if got := cost(); got != 0 {
		t.Errorf("%v while nobody waits", got)
	}
	rt.Loop().Hold()
	handles := []*Handle{rt.Go(background, "job", idle), rt.Go(background, "unknown", idle), rt.Go(WithCost(background, time.Hour), "job", idle)}
	eventually(t, "all to wait", func() bool { return rt.Loop().Stats().Queued == 3 })
	if got := cost() - time.Hour; got < 4*time.Millisecond || got > time.Minute {
		t.Errorf("an hour and %v are expected", got)
	}
	rt.Loop().Release()
	for _, h := range handles {
		must(t, h.Wait(background))
	}
	if got := cost(); got != 0 {
		t.Errorf("%v when nobody waits any more", got)
	}
}
