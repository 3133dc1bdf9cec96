package cocoon

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/stubs"
)

// Tasks that came before the policy are counted in their class from then on, whatever they do.
func TestClassesOfExistingTasks(t *testing.T) {
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

// A task inside Block is not busy, even if no task waits for its slot.
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
	t.Parallel() // most of its time is a wait
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

// A million distinct names take the memory of 1024 names, and displace no name in use.
func TestAMillionClasses(t *testing.T) {
	n := longtest.Count(1_000_000, 20_000)
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

// A task is counted in its class only if a policy that reads class.* matches it.
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

// If all accounts have tasks, further names are counted together, until an account has none.
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
