package cocoon

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/sched"
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
func TestNobodyPaysForFigures(t *testing.T) {
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

// Tasks that came before the policy are counted in their class from then on, whatever they do.
func TestClassesOfTasksThatAreThere(t *testing.T) {
	rt := start(t, Config{Slots: 2, StallAfter: -1})
	gate := make(chan struct{})
	first := begun(t, rt.Loop(), background, "a", func(context.Context) error { return keepSlot(gate) })
	blocked := make(chan struct{})
	second := rt.Go(background, "a", func(ctx context.Context) error {
		return Block(ctx, func() error { close(blocked); <-gate; return nil })
	})
	receive(t, "the block", blocked)
	third := begun(t, rt.Loop(), background, "b", func(context.Context) error { return keepSlot(gate) })
	fourth := rt.Go(background, "a", idle)
	eventually(t, "one that waits", func() bool { return rt.Loop().Stats().Queued == 1 })
	counts := func() (n [3]int) {
		rt.Loop().lockAll()
		defer rt.Loop().unlock()
		a := rt.Loop().meter.classes[stubs.Intern("a")]
		return [3]int{a.Live(), a.Waiting(), a.Busy()}
	}
	r := register(t, rt, Policy{Name: "p", On: OnEnqueue, Expr: `class.wait(0.5) > duration("1000h") ? throw("x") : continue()`})
	if got := counts(); got != [3]int{3, 1, 1} {
		t.Errorf("%v tasks, waiting, busy", got)
	}
	r.Cancel()
	register(t, rt, Policy{Name: "q", On: OnEnqueue, Expr: `class.busy > 1000 ? throw("x") : continue()`})
	if got := counts(); got != [3]int{3, 1, 1} {
		t.Errorf("for another policy: %v tasks, waiting, busy", got)
	}
	close(gate)
	for _, h := range []*Handle{first, second, third, fourth} {
		must(t, h.Wait(background))
	}
	if got := counts(); got != [3]int{} {
		t.Errorf("at the end: %v tasks, waiting, busy", got)
	}
}

// A task inside Block is not busy, though nobody waits for its slot.
func TestBlockedIsNotBusy(t *testing.T) {
	rt := start(t, Config{Slots: 4})
	r := register(t, rt, Policy{Name: "one", On: OnEnqueue, Match: Match{Tasks: []string{"call"}}, Expr: `class.busy > 1 ? throw("two at once") : continue()`})
	must(t, rt.Run(background, "warm", func(ctx context.Context) error { return Block(ctx, func() error { return nil }) }))
	gate, inside := make(chan struct{}), make(chan struct{})
	first := rt.Go(background, "call", func(ctx context.Context) error {
		return Block(ctx, func() error { close(inside); <-gate; return nil })
	})
	receive(t, "the block", inside)
	must(t, rt.Run(background, "call", idle))
	close(gate)
	must(t, first.Wait(background))
	busy := begun(t, rt.Loop(), background, "call", func(ctx context.Context) error { return keepSlot(gate) })
	must(t, busy.Wait(background))
	if r.Stats().Refusals != 0 {
		t.Errorf("%+v", r.Stats())
	}
}

// TestConcurrencyOfAClass: no more than two tasks of a name run at once, however many come.
func TestConcurrencyOfAClass(t *testing.T) {
	rt := start(t, Config{Slots: 8})
	r := register(t, rt, Policy{Name: "two", On: OnEnqueue, Expr: `arriving.name == "scan" and class.tasks > 2 ? throw("enough scans") : continue()`})
	var crowd sync.WaitGroup
	var mu sync.Mutex
	running, most, refused := 0, 0, int64(0)
	for range 8 {
		crowd.Go(func() {
			for range 300 {
				err := rt.Run(background, "scan", func(ctx context.Context) error {
					mu.Lock()
					running++
					most = max(most, running)
					mu.Unlock()
					Block(ctx, func() error { time.Sleep(50 * time.Microsecond); return nil })
					mu.Lock()
					running--
					mu.Unlock()
					return nil
				})
				var pe *PreemptedError
				if mu.Lock(); errors.As(err, &pe) {
					refused++
				} else if err != nil {
					t.Error(err)
				}
				mu.Unlock()
			}
		})
	}
	within(t, "the crowd", crowd.Wait)
	if most > 2 || refused == 0 || r.Stats().Refusals != refused {
		t.Errorf("%d at once, %d refused, %+v", most, refused, r.Stats())
	}
}

// What a policy refuses on arrival has not waited; what leaves the queue by itself has.
func TestWhoHasWaited(t *testing.T) {
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

// A million distinct names take the memory of 1024, and do not displace those that are used.
func TestAMillionClasses(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 100_000
	}
	rt := start(t, Config{Slots: 1})
	register(t, rt, reader)
	for i := range n {
		if i%1000 == 0 {
			for range 3 {
				must(t, rt.Run(background, "used", idle))
			}
		}
		must(t, rt.Run(background, strconv.Itoa(i), idle))
	}
	m := meterOf(rt.Loop())
	if len(m.classes) > maxClassAccounts {
		t.Errorf("%d accounts", len(m.classes))
	}
	if a := m.classes[stubs.Intern("used")]; a == nil || a.Ended() != (n+999)/1000*3 {
		t.Errorf("the account of a name that is used is %+v", a)
	}
	if st := rt.Loop().Stats(); st.Crowded < int64(n-2*maxClassAccounts) || st.Crowded > int64(n) {
		t.Errorf("%d names found no room", st.Crowded)
	}
}

// Tasks that no policy which reads figures of classes is about are not counted.
func TestClassesThatMatch(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	p := Policy{Name: "p", On: OnEnqueue, Match: Match{Tasks: []string{"a", "GET /*"}, Except: []string{"GET /b"}, Kinds: []string{"safe"}}, Expr: `class.busy > 100 ? throw("x") : continue()`}
	must(t, errors.Join(rt.RegisterSafeFunc("a"), rt.RegisterSafeFunc("GET /a"), rt.RegisterSafeFunc("GET /b")))
	r := register(t, rt, p)
	counted := func(want ...string) {
		t.Helper()
		for _, name := range []string{"a", "b", "GET /a", "GET /b", "GET /c"} {
			must(t, rt.Run(background, name, idle))
		}
		m := meterOf(rt.Loop())
		if len(m.classes) != len(want) {
			t.Errorf("%d accounts, want %v", len(m.classes), want)
		}
		for _, name := range want {
			if a := m.classes[stubs.Intern(name)]; a == nil || a.Ended() == 0 {
				t.Errorf("%s is not counted", name)
			}
		}
	}
	counted("a", "GET /a")
	gate := make(chan struct{})
	b := begun(t, rt.Loop(), background, "b", func(context.Context) error { return keepSlot(gate) })
	p.Match = Match{}
	must(t, r.Update(p))
	if m := meterOf(rt.Loop()); m.classes[stubs.Intern("b")].Busy() != 1 {
		t.Error("a task that is there is not counted for another Match")
	}
	close(gate)
	must(t, b.Wait(background))
	counted("a", "b", "GET /a", "GET /b", "GET /c")
}

// Where all accounts have tasks, more names are counted together, until one has none.
func TestClassesTogether(t *testing.T) {
	m := &meter{wants: wants{class: []*bound{{}}}}
	m.inherit(nil)
	core := sched.NewCore(sched.Config{Slots: 2 * maxClassAccounts})
	tasks := make([]sched.Task, maxClassAccounts)
	for i := range tasks {
		tasks[i].Reset(Atomic)
		tasks[i].CountIn(&m.accountOf(stubs.NameID(i + 1)).Tally)
		core.Arrive(&tasks[i], 0)
	}
	for id := range stubs.NameID(10) {
		if a := m.accountOf(1<<40 + id); a != m.rest || m.crowded != int64(id)+1 {
			t.Fatalf("%+v, %d crowded", a, m.crowded)
		}
	}
	for i := range tasks {
		core.Exit(&tasks[i], 0)
	}
	if a := m.accountOf(1 << 40); a == m.rest || len(m.classes) != maxClassAccounts {
		t.Errorf("an idle account does not make room, of %d", len(m.classes))
	}
}

// The quantiles that a policy reads go on when another policy comes, changes or goes that reads
// others.
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
	for n := range 300 {
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
	if trends := (*rt.states.Load())["n"].trends.Load(); trends == nil || len(*trends) != 1 || (*trends)[0].users != 2 {
		t.Errorf("%+v", trends)
	}
	must(t, file.load(t, rt, version(4)))
	if trends := (*rt.states.Load())["n"].trends.Load(); trends != nil {
		t.Errorf("nobody reads trends, and there are %d", len(*trends))
	}
}

func TestPace(t *testing.T) {
	var p pace
	if p.value(0) != 0 {
		t.Error("a rate of nothing")
	}
	second := int64(time.Second)
	now := 100 * second
	for range 60_000 { // a thousand a second
		now += second / 1000
		p.add(now)
	}
	if v := p.value(now); v < 980 || v > 1010 {
		t.Errorf("%v per second, want about 1000", v)
	}
	if v, want := p.value(now+10*second), p.value(now)/math.E; math.Abs(v-want) > 1e-6 {
		t.Errorf("10 s later %v, want %v", v, want)
	}
	before := p.value(now)
	p.add(0)
	p.add(math.MinInt64)
	if v := p.value(now); v < before || v > before+1 {
		t.Errorf("after a leap back %v, before %v", v, before)
	}
	if p.add(math.MaxInt64); p.value(math.MaxInt64) > 1 || p.value(0) > 1 {
		t.Errorf("after a leap forward %v", p.value(math.MaxInt64))
	}
}

func TestMean(t *testing.T) {
	var m mean
	m.add(-5)
	if m.ns != 0 {
		t.Errorf("%d", m.ns)
	}
	m = mean{}
	for _, x := range []int64{100, 100, 100} {
		m.add(x)
	}
	if m.ns != 100 {
		t.Errorf("of equal values: %d", m.ns)
	}
	for range 100 {
		m.add(math.MaxInt64)
	}
	if m.ns > greatest || m.ns < greatest/2 {
		t.Errorf("of the greatest: %d", m.ns)
	}
}

// rate and average read the course of a state that other policies write, and a dry run a course of
// its own.
func TestTrendsOfStates(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"n": 0, "ms": 0.0, "rate": 0.0, "average": 0.0}))
	register(t, rt, Policy{Name: "count", On: OnNotify("n"), Expr: `set("ms", 1000.0); set("ms", event.value)`})
	register(t, rt, Policy{Name: "add", On: OnNotify("n"), Expr: `add("n", 10)`})
	register(t, rt, Policy{Name: "look", On: OnNotify("look"), Expr: `set("rate", rate("n", duration("1s"))); set("average", average("ms", duration("100h")))`})
	rt.Notify("look", 0)
	if rt.State("rate") != 0.0 || rt.State("average") != 0.0 {
		t.Errorf("at first %v, %v", rt.State("rate"), rt.State("average"))
	}
	for i := range 4 {
		rt.Notify("n", float64(i))
	}
	rt.Notify("look", 0)
	began := time.Now()
	if a, r := rt.State("average").(float64), rt.State("rate").(float64); math.Abs(a-1.5) > 0.01 || r <= 0 {
		t.Errorf("an average of %v, a rate of %v", a, r)
	}
	for time.Since(began) < 1100*time.Millisecond {
		time.Sleep(50 * time.Millisecond)
	}
	rt.Notify("look", 0)
	if r := rt.State("rate").(float64); r != 0 {
		t.Errorf("a second later a rate of %v", r)
	}
}

// A state that a document gives another first value begins anew, and so do its trends; one that
// stays has its past.
func TestTrendsOfReloadedStates(t *testing.T) {
	rt, file := start(t, Config{Slots: 1}), newPolicyFile(t)
	look := func(first int) (rate, average float64) {
		t.Helper()
		must(t, file.load(t, rt, fmt.Sprintf(`
states: {n: %d, rate: 0.0, average: 0.0}
policies:
  - {name: add, event: n, expr: 'add("n", 10)'}
  - {name: look, event: look, expr: 'set("rate", rate("n", duration("1h"))); set("average", average("n", duration("1h")))'}
`, first)))
		rt.Notify("look", 0)
		return rt.State("rate").(float64), rt.State("average").(float64)
	}
	look(0)
	for range 4 {
		rt.Notify("n", 0)
	}
	if r, a := look(0); r <= 0 || math.Abs(a-25) > 0.1 {
		t.Errorf("loaded again: a rate of %v, an average of %v", r, a)
	}
	if r, a := look(-1000); r != 0 || a != -1000 {
		t.Errorf("with another first value: a rate of %v, an average of %v", r, a)
	}
}

// In observe mode they follow the shadow of the state, with the past that the state has; and nobody
// else does.
func TestTrendsOfShadows(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"n": 0, "rate": 0.0, "average": 0.0, "flag": false}))
	register(t, rt, Policy{Name: "add", On: OnNotify("n"), Expr: `add("n", 10)`})
	register(t, rt, Policy{Name: "before", On: OnNotify("before"), Mode: Observe, Expr: `set("n", 0)`})
	rt.Notify("before", 0) // there is a shadow before there are trends
	look := Policy{Name: "look", On: OnNotify("look"), Expr: `set("rate", rate("n", duration("1h"))); set("average", average("n", duration("1h")))`}
	register(t, rt, look)
	dry := register(t, rt, Policy{Name: "dry", On: OnNotify("dry"), Mode: Observe, Expr: `
		set("n", -1000);
		rate("n", duration("1h")) < 0 and average("n", duration("1h")) < 0 ? set("flag", true) : continue()`})
	effects := func(raise string, want int64) {
		t.Helper()
		was := dry.Stats().WouldEffect
		if rt.Notify(raise, 0); dry.Stats().WouldEffect-was != want {
			t.Errorf("%s: %d effects, want %d: %+v", raise, dry.Stats().WouldEffect-was, want, dry.Stats())
		}
	}
	for range 4 {
		effects("n", 0)
	}
	effects("dry", 1) // from 0 to 40: nothing negative
	effects("dry", 2) // from 0 to -1000
	effects("look", 0)
	if r, a := rt.State("rate").(float64), rt.State("average").(float64); r <= 0 || math.Abs(a-25) > 0.1 {
		t.Errorf("the state itself has the rate %v and the average %v", r, a)
	}
	effects("n", 0) // an enforcing policy writes: the shadow ends
	effects("dry", 1)
}

// What tasks of a name took is known where a policy reads queue.cost; a task that comes back from a
// block has only the rest of it left.
func TestQueueCostIsLearned(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	must(t, rt.RegisterState(map[string]any{"cost": time.Duration(0)}))
	register(t, rt, Policy{Name: "look", On: OnNotify("look"), Expr: `set("cost", queue.cost)`})
	cost := func() time.Duration { rt.Notify("look", 0); return rt.State("cost").(time.Duration) }
	job := func(context.Context) error { work(5 * time.Millisecond); return nil }
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
