package cocoon

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/safepoint"
)

// Invariant 5, and everything else that may break under load: many goroutines use all operations of
// tasks, on three loops, while policies switch, throw, refuse and call, and other goroutines
// cancel. At the end nothing is left.
func TestHammer(t *testing.T) {
	for name, cfg := range map[string]Config{
		"defaults": {Slots: 2, StallAfter: 2 * time.Millisecond, MaxBypass: 5 * time.Millisecond},
		"bounded":  {Slots: 2, StallAfter: time.Millisecond, MaxQueue: 8, MaxStarted: 6, MaxBypass: time.Millisecond, KeepProcs: true},
		"one slot": {Slots: 1, StallAfter: 500 * time.Microsecond, Breath: -1},
		"undriven": {Slots: 3, StallAfter: -1, Breath: -1, MaxBypass: -1},
	} {
		t.Run(name, func(t *testing.T) { hammer(t, cfg, time.Duration(longtest.Count(1200, 25))*time.Millisecond) })
	}
}

func hammer(t *testing.T, cfg Config, d time.Duration) {
	rt := start(t, cfg)
	h := &hammering{rt: rt, loops: []*Loop{rt.Loop(), newLoopOf(t, rt, "second", 2), newLoopOf(t, rt, "third", 1)}, strangers: cfg.StallAfter >= 0, bounded: cfg.MaxStarted > 0}
	must(t, rt.RegisterPreemptibleFunc("scan"))
	must(t, rt.RegisterPreemptibleFunc("both"))
	must(t, rt.RegisterSafeFunc("both"))
	must(t, rt.RegisterSafeFunc("get"))
	must(t, rt.RegisterState(map[string]any{"seen": 0}))
	must(t, rt.RegisterSafeFunc(Func{Name: "act", Do: func(context.Context) { h.acted.Add(1) }}))
	_, err := rt.RegisterDefaultPreemption(OnEnqueue)
	must(t, err)
	_, err = rt.RegisterTimeLimit(TimeLimit{Func: "limited", Limit: 500 * time.Microsecond})
	must(t, err)
	register(t, rt, Policy{Name: "turns", On: Every(200 * time.Microsecond), Expr: `task.kind == "both" and task.slice > duration("200us") ? switch() : continue()`})
	register(t, rt, Policy{Name: "deep", On: Every(300 * time.Microsecond), Expr: `task.running > duration("3ms") ? throw("too long") : continue()`})
	register(t, rt, Policy{Name: "admit", On: OnEnqueue, Expr: `queue.length > 40 ? throw("too many") : continue()`})
	must(t, rt.RegisterTenants(Tenants{Label: "tenant", Shares: map[string]int{"a": 3}, Max: 2}))
	register(t, rt, Policy{Name: "mixed", On: OnEnqueue, Expr: `rank(arriving.virtual_time); arriving.name == "get" ? rank(queue.length % 3) : continue()`})
	register(t, rt, Policy{Name: "block", On: OnBlock, Expr: `task.section == "limited" and task.running > duration("400us") ? throw("no") : continue()`})
	register(t, rt, Policy{Name: "count", On: OnExit, Expr: `set("seen", 1); call("act"); continue()`})
	register(t, rt, Policy{Name: "odd", On: OnNotify("odd"), Expr: `event.value > 0.5 ? throw("odd") : switch()`})

	h.end = time.Now().Add(d) // the registrations compile policies, which takes longer on a busy machine
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			g := &hammerer{hammering: h, rand: rand.New(rand.NewPCG(uint64(i), 7)), t: t}
			for time.Now().Before(h.end) {
				g.task(background, 0)
			}
		})
	}
	wg.Go(func() { h.churn(t) })
	within(t, "the end", wg.Wait)

	ctx, cancel := context.WithTimeout(background, patience)
	defer cancel()
	must(t, rt.Shutdown(ctx))
	checkFree(t, rt)
	if safepoint.Raised() {
		t.Error("the word is up though no task is left")
	}
	for _, l := range rt.Stats().Loops {
		for name, a := range l.Tenants {
			if a.Tasks != 0 || a.Queued != 0 || a.Busy != 0 || a.Running < 0 {
				t.Errorf("%s: tenant %q is left with %+v", l.Name, name, a)
			}
		}
		t.Logf("%s: %d ended, %d refused, %d stalls, %d void, %d preemptions", l.Name, l.Ended, l.Refused, l.Stalls, l.Void, l.Account.Preemptions)
	}
	if h.ran.Load() == 0 {
		t.Error("no task ran")
	}
}

type hammering struct {
	rt         *Runtime
	loops      []*Loop
	end        time.Time
	ran, acted atomic.Int64

	// strangers says whether tasks run inside tasks without their context. Such a task may wait for
	// a slot held by the hidden task around it, which only the lending of slots resolves.
	strangers bool

	// bounded says whether the default loop has a MaxStarted. All its started tasks may then wait
	// for nested ones, so these have deadlines.
	bounded bool
}

// churn registers, updates and cancels policies, notifies and reads statistics while tasks run.
func (h *hammering) churn(t *testing.T) {
	for n := 0; time.Now().Before(h.end); n++ {
		r, err := h.rt.RegisterPolicy(Policy{Name: "churn", On: Every(100 * time.Microsecond), Expr: `task.running > duration("1ms") ? switch() : continue()`})
		if err != nil {
			t.Error(err)
			return
		}
		h.rt.Notify("odd", float64(n%2))
		h.rt.Stats()
		if err := r.Update(Policy{On: OnUnblock, Expr: `cancel()`}); err != nil && !errors.Is(err, ErrGone) {
			t.Error(err)
		}
		h.loops[n%3].Hold()
		runtime.Gosched()
		h.loops[n%3].Release()
		r.Cancel()
	}
}

type hammerer struct {
	*hammering
	rand *rand.Rand
	t    *testing.T
}

var errHammer = errors.New("hammer")

// task runs a task with a random name, on a random loop, by Run or Go, and accepts every result.
func (g *hammerer) task(ctx context.Context, depth int) {
	defer func() {
		if r := recover(); r != nil {
			if _, thrown := r.(*PreemptedError); thrown {
				if depth == 0 {
					g.t.Errorf("a throw left its task: %v", r)
				}
				panic(r)
			}
		}
	}()
	within, l := ctx, g.loops[g.rand.IntN(len(g.loops))]
	name := []string{"scan", "both", "get", "atomic"}[g.rand.IntN(4)]
	if tenant := g.rand.IntN(5); tenant > 0 {
		ctx = WithLabel(ctx, "tenant", string(rune('a'+tenant)))
	}
	if g.strangers && g.rand.IntN(5) == 0 {
		ctx = background
	}
	if g.rand.IntN(8) == 0 || g.bounded && depth > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(g.rand.IntN(1000))*time.Microsecond)
		defer cancel()
	}
	if g.rand.IntN(3) > 0 {
		g.check(l.Run(ctx, name, func(ctx context.Context) error { return g.behave(ctx, depth) }))
		return
	}
	child := &hammerer{g.hammering, rand.New(rand.NewPCG(g.rand.Uint64(), 1)), g.t}
	h := l.Go(ctx, name, func(ctx context.Context) error { return child.behave(ctx, depth) })
	switch g.rand.IntN(4) {
	case 0:
		h.Cancel()
	case 1:
		return
	}
	Block(within, func() error { <-h.Done(); return nil })
	g.check(h.Wait(background))
	h.Account()
}

func (g *hammerer) check(err error) {
	var pe *PreemptedError
	var panicked *PanicError
	switch {
	case err == nil, errors.Is(err, errHammer), errors.As(err, &pe), errors.As(err, &panicked), errors.Is(err, ErrGoexit),
		errors.Is(err, ErrOverloaded), errors.Is(err, ErrShutdown), errors.Is(err, ErrCancelled), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
	default:
		g.t.Errorf("unexpected: %v", err)
	}
	if pe != nil {
		_ = fmt.Sprint(pe, pe.Stack())
	}
}

// behave is the body of a task: a few random operations.
func (g *hammerer) behave(ctx context.Context, depth int) error {
	g.ran.Add(1)
	for range g.rand.IntN(6) {
		g.act(ctx, depth)
	}
	switch g.rand.IntN(20) {
	case 0:
		panic("hammer")
	case 1:
		if TaskOf(ctx).strand.handle != nil {
			runtime.Goexit()
		}
	case 2:
		return errHammer
	}
	return nil
}

func (g *hammerer) act(ctx context.Context, depth int) {
	switch g.rand.IntN(12) {
	case 0, 1:
		g.work(ctx, 600*time.Microsecond)
	case 2:
		Yield(ctx)
	case 3:
		Block(ctx, func() error {
			if g.rand.IntN(2) == 0 && depth < 3 {
				g.task(ctx, depth+1)
			}
			time.Sleep(time.Duration(g.rand.IntN(300)) * time.Microsecond)
			return nil
		})
	case 4, 5:
		if depth < 3 {
			g.task(ctx, depth+1)
		}
	case 6, 7:
		inSection(ctx, "limited", func() error { g.work(ctx, time.Millisecond); return nil })
	case 8:
		inSection(ctx, "outer", func() error {
			return inSection(ctx, "limited", func() error { g.act(ctx, depth); return nil })
		})
	case 9: // no safe point
		for end := time.Now().Add(time.Duration(g.rand.IntN(3000)) * time.Microsecond); time.Now().Before(end); {
		}
	case 10: // swallow the throw
		func() {
			defer func() { recover() }()
			g.work(ctx, 300*time.Microsecond)
		}()
	case 11:
		if g.rand.IntN(4) == 0 {
			TaskOf(ctx).Cancel()
		}
		<-time.After(time.Duration(g.rand.IntN(700)) * time.Microsecond) // an unannounced wait
	}
}

func (g *hammerer) work(ctx context.Context, most time.Duration) {
	for end := time.Now().Add(time.Duration(g.rand.Int64N(int64(most)))); time.Now().Before(end); {
		if g.rand.IntN(2) == 0 {
			SafePoint(ctx)
		} else {
			safepoint.Poll()
		}
	}
}
