package cocoon

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// A task in an open slot looks like any other task.
func TestTaskInAnOpenSlot(t *testing.T) {
	for name, look := range map[string]func(t *testing.T, ctx context.Context, rt *Runtime) error{
		"statistics": func(t *testing.T, _ context.Context, rt *Runtime) error {
			if st := rt.Stats(); st.Tasks != 1 || st.Loops[0].Busy != 1 {
				t.Errorf("%d tasks, %d slots busy", st.Tasks, st.Loops[0].Busy)
			}
			return nil
		},
		"its own account": func(t *testing.T, ctx context.Context, _ *Runtime) error {
			time.Sleep(time.Millisecond)
			if a := TaskOf(ctx).Account(); a.Running < time.Millisecond {
				t.Errorf("%+v", a)
			}
			return nil
		},
		"block": func(_ *testing.T, ctx context.Context, rt *Runtime) error {
			return Block(ctx, func() error { return rt.Run(background, "other", func(context.Context) error { return nil }) })
		},
		"yield": func(_ *testing.T, ctx context.Context, _ *Runtime) error {
			Yield(ctx)
			return nil
		},
		"nested": func(t *testing.T, ctx context.Context, rt *Runtime) error {
			return rt.Run(ctx, "inner", func(context.Context) error {
				if st := rt.Stats(); st.Loops[0].Busy != 1 {
					t.Errorf("%d slots busy", st.Loops[0].Busy)
				}
				return nil
			})
		},
		"another waits": func(t *testing.T, ctx context.Context, rt *Runtime) error {
			l := rt.Loop()
			l.lock()
			l.cfg.Exclusive = true // a short wait for a lock must not lend the slot
			l.unlock()
			h := rt.Go(background, "other", func(context.Context) error { return nil })
			eventually(t, "the other to wait", func() bool { return rt.Stats().Loops[0].Queued == 1 })
			if closed(h.Done()) {
				t.Error("two tasks ran in one slot")
			}
			return nil
		},
		"cancel": func(t *testing.T, ctx context.Context, _ *Runtime) error {
			go TaskOf(ctx).Cancel()
			if err := thrownInto(ctx); !errors.Is(err, ErrCancelled) {
				t.Errorf("thrown: %v", err)
			}
			return nil
		},
		"a tick's throw": func(t *testing.T, ctx context.Context, rt *Runtime) error {
			_, err := rt.RegisterTimeLimit(TimeLimit{Func: "part", Limit: time.Millisecond})
			must(t, err)
			_, err = Section(ctx, "part", func() (int, error) { return 0, spinForever(ctx) })
			preemption(t, err)
			return nil
		},
		"hold": func(t *testing.T, _ context.Context, rt *Runtime) error {
			rt.Loop().Hold()
			defer rt.Loop().Release()
			ctx, cancel := context.WithTimeout(background, time.Millisecond)
			defer cancel()
			h := rt.Go(ctx, "other", func(context.Context) error { return nil })
			if err := h.Wait(background); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a held task: %v", err)
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 1})
			must(t, rt.Run(background, "job", func(ctx context.Context) error {
				if rt.tasks.Load() != 0 {
					t.Error("the task did not take an open slot")
				}
				return look(t, ctx, rt)
			}))
			eventually(t, "all to end", func() bool { return rt.Stats().Tasks == 0 })
			must(t, rt.Run(background, "job", func(ctx context.Context) error {
				if n := rt.tasks.Load(); n != 0 && name != "a tick's throw" {
					t.Error("afterwards the slot is not open")
				}
				return nil
			}))
		})
	}
}

// thrownInto passes safe points until a throw comes, and returns its error. The throw stays in
// flight.
func thrownInto(ctx context.Context) (err error) {
	defer func() {
		if pe, ok := recover().(*PreemptedError); ok {
			err = pe
		}
	}()
	return spinForever(ctx)
}

// A policy that must see each task sees every task that arrives after its registration.
func TestGuardedLoopHasNoOpenSlot(t *testing.T) {
	for name, on := range map[string]Trigger{"start": OnStart, "exit": OnExit, "enqueue": OnEnqueue} {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 2})
			run := func() { must(t, rt.Run(background, "job", func(context.Context) error { return nil })) }
			run()
			must(t, rt.RegisterState(map[string]any{"seen": false}))
			r := register(t, rt, Policy{Name: "all", On: on, Expr: `set("seen", true); continue()`})
			for range 10 {
				run()
			}
			if n := r.Stats().Evaluations; n != 10 {
				t.Errorf("%d evaluations for 10 tasks", n)
			}
			r.Cancel()
			run()
			if n, _ := rt.Loop().quickEnded(); n != 2 {
				t.Errorf("%d tasks took open slots, want the first and the last", n)
			}
		})
	}
}

// Preemption leaves slots open: it has nothing to do before a task waits, and then it acts.
func TestPreemptionLeavesSlotsOpen(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterSafeFunc("get"))
	must(t, rt.RegisterPreemptibleFunc("scan"))
	r, err := rt.RegisterDefaultPreemption(OnEnqueue)
	must(t, err)
	for range 10 {
		must(t, rt.Run(background, "get", idle))
		must(t, rt.Run(background, "scan", idle))
	}
	if n, _ := rt.Loop().quickEnded(); n != 20 || r.Stats().Evaluations != 0 {
		t.Errorf("%d of 20 tasks took the open slot, %d evaluations", n, r.Stats().Evaluations)
	}
	must(t, rt.Run(background, "scan", func(ctx context.Context) error {
		get := rt.Go(background, "get", idle)
		within(t, "the get, which goes before the scan", func() {
			for !closed(get.Done()) {
				SafePoint(ctx)
			}
		})
		return nil
	}))
}

// A policy that can only continue while no task waits leaves slots open, and sees each task that
// arrives while a task waits.
func TestAdmissionLeavesSlotsOpen(t *testing.T) {
	rt := start(t, Config{})
	// Exclusive, because the garbage collector may make the spinning task wait, and its slot must
	// not be lent.
	l, err := rt.NewLoop(LoopConfig{Name: "one", Slots: 1, Exclusive: true})
	must(t, err)
	r := register(t, rt, Policy{Name: "admission", On: OnEnqueue, Expr: `arriving.name != "first" and queue.length >= 1 ? throw("one may wait, and it does") : continue()`})
	for range 10 {
		must(t, l.Run(background, "job", idle))
	}
	if n, _ := l.quickEnded(); n != 10 || r.Stats().Evaluations != 0 {
		t.Errorf("%d of 10 tasks took the open slot, %d were seen", n, r.Stats().Evaluations)
	}
	var first *Handle
	must(t, l.Run(background, "job", func(context.Context) error {
		first = l.Go(background, "first", idle)
		eventually(t, "the first to wait", func() bool { return l.Stats().Queued == 1 })
		for range 3 {
			if pe := preemption(t, l.Run(background, "job", idle)); pe.Started || pe.Policy != "admission" {
				t.Errorf("refused by %+v", pe)
			}
		}
		if st := r.Stats(); st.Evaluations != 3 || st.Refusals != 3 { // it cannot act on the first
			t.Errorf("%+v", st)
		}
		return nil
	}))
	must(t, first.Wait(background))
}

// Invariant 5 with open slots: never more tasks than slots, each is counted once, and no task is
// forgotten, whatever other goroutines do meanwhile.
func TestOpenSlotsHammer(t *testing.T) {
	const slots = 3
	rt := start(t, Config{StallAfter: -1})
	// The default loop lends the slot of a task that waits for a lock or for the garbage collector.
	l, err := rt.NewLoop(LoopConfig{Name: "own", Slots: slots, Exclusive: true})
	must(t, err)
	register(t, rt, Policy{Name: "admission", On: OnEnqueue, Expr: `queue.length > 100 ? throw("never") : continue()`})
	end := time.Now().Add(time.Duration(longtest.Count(1000, 50)) * time.Millisecond)
	var inside, ran atomic.Int64
	task := func(random *rand.Rand) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			if n := inside.Add(1); n > slots {
				t.Errorf("%d tasks at once", n)
			}
			ran.Add(1)
			switch random.IntN(40) {
			case 0:
				inside.Add(-1)
				Block(ctx, func() error { runtime.Gosched(); return nil })
				inside.Add(1)
			case 1:
				inside.Add(-1)
				Yield(ctx)
				inside.Add(1)
			case 2:
				TaskOf(ctx).Account()
			case 3:
				inside.Add(-1)
				_ = TaskOf(ctx).strand.loop.Run(ctx, "inner", func(context.Context) error { ran.Add(1); return nil })
				inside.Add(1)
			}
			inside.Add(-1)
			if random.IntN(1000) == 0 {
				panic("hammer")
			}
			return nil
		}
	}
	var wg sync.WaitGroup
	for i := range 2 * slots {
		wg.Go(func() {
			fn := task(rand.New(rand.NewPCG(uint64(i), 3)))
			for time.Now().Before(end) {
				func() {
					defer func() { _ = recover() }()
					must(t, l.Run(background, "job", fn))
				}()
				if i%2 == 0 {
					runtime.Gosched() // let slots be free at times
				}
			}
		})
	}
	wg.Go(func() {
		for n := 0; time.Now().Before(end); n++ {
			switch n % 5 {
			case 0:
				rt.Stats()
			case 1:
				l.Hold()
				l.Release()
			case 2:
				register(t, rt, Policy{Name: "p", On: []Trigger{OnStart, Every(50 * time.Microsecond)}[n%2], Expr: `task.running > duration("9s") ? throw("no") : continue()`}).Cancel()
			default:
				time.Sleep(100 * time.Microsecond)
			}
		}
	})
	within(t, "the end", wg.Wait)
	quick, _ := l.quickEnded()
	st := l.Stats()
	if st.Ended != ran.Load() || st.Refused != 0 {
		t.Errorf("%d tasks ran, %d are counted, %d as refused", ran.Load(), st.Ended, st.Refused)
	}
	if quick == 0 || quick == st.Ended {
		t.Errorf("%d of %d tasks took open slots: one of both ways was not tried", quick, st.Ended)
	}
	t.Logf("%d of %d tasks took open slots", quick, st.Ended)
}
