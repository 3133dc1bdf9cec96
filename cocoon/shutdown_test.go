package cocoon

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func soon() (context.Context, context.CancelFunc) {
	return context.WithTimeout(background, time.Millisecond)
}

// refuses returns a function that reports whether Shutdown has begun.
func refuses(rt *Runtime) func() bool {
	return func() bool {
		ctx, cancel := soon()
		defer cancel()
		return errors.Is(rt.Run(ctx, "late", func(context.Context) error { return nil }), ErrShutdown)
	}
}

// Shutdown waits for running, blocked and queued tasks.
func TestShutdownDrains(t *testing.T) {
	rt := start(t, Config{Slots: 2, StallAfter: -1})
	gate := make(chan struct{})
	var ended atomic.Int32
	var handles []*Handle
	for i := range 50 {
		handles = append(handles, rt.Go(background, "job", func(ctx context.Context) error {
			defer ended.Add(1)
			if i%2 == 0 {
				return Block(ctx, func() error { <-gate; return nil })
			}
			<-gate
			return nil
		}))
	}
	eventually(t, "all to arrive", func() bool { return rt.Stats().Tasks == 50 })
	down := make(chan error)
	go func() { down <- rt.Shutdown(background) }()
	eventually(t, "the door to close", refuses(rt))
	close(gate)
	must(t, receive(t, "Shutdown", down))
	if n := ended.Load(); n != 50 {
		t.Errorf("Shutdown returned when %d of 50 tasks had ended", n)
	}
	for _, h := range handles {
		must(t, h.Wait(background))
	}
}

// While tasks keep arriving in all ways, each is either refused with ErrShutdown or ends before
// Shutdown returns.
func TestShutdownUnderLoad(t *testing.T) {
	rt := start(t, Config{Slots: 2, StallAfter: 5 * time.Millisecond})
	must(t, rt.RegisterPreemptibleFunc("scan"))
	must(t, rt.RegisterSafeFunc("get"))
	_, err := rt.RegisterDefaultPreemption(OnEnqueue)
	must(t, err)
	register(t, rt, Policy{Name: "look", On: Every(100 * time.Microsecond), Expr: `task.running > duration("1h") ? throw("x") : continue()`})
	var inside, ran atomic.Int64
	body := func(ctx context.Context) error {
		inside.Add(1)
		defer inside.Add(-1)
		ran.Add(1)
		for range 100 {
			SafePoint(ctx)
		}
		return Block(ctx, func() error { runtime.Gosched(); return nil })
	}
	var crowd sync.WaitGroup
	for i := range 8 {
		name := []string{"scan", "get", "atomic"}[i%3]
		crowd.Go(func() {
			for {
				var err error
				if i%2 == 0 {
					err = rt.Run(background, name, body)
				} else {
					err = rt.Go(background, name, body).Wait(background)
				}
				if errors.Is(err, ErrShutdown) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	eventually(t, "a crowd", func() bool { return ran.Load() > 1000 })
	must(t, rt.Shutdown(background))
	if n := inside.Load(); n != 0 {
		t.Errorf("Shutdown returned while %d tasks ran", n)
	}
	within(t, "the crowd", crowd.Wait)
	checkFree(t, rt)
}

// When its context ends, Shutdown throws into running, waiting, blocked and suspended tasks.
func TestShutdownThrows(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	l := oneSlot(t, rt)
	must(t, rt.RegisterPreemptibleFunc("scan"))
	must(t, rt.RegisterSafeFunc("get"))
	_, err := rt.RegisterDefaultPreemption(OnEnqueue)
	must(t, err)
	run := func(name string, fn func(context.Context) error) *Handle {
		running := make(chan struct{})
		h := l.Go(background, name, func(ctx context.Context) error { close(running); return fn(ctx) })
		receive(t, name, running)
		return h
	}
	handles := []*Handle{
		run("blocked", func(ctx context.Context) error { return Block(ctx, func() error { <-ctx.Done(); return ctx.Err() }) }),
		run("scan", spinForever),
		run("get", spinForever),
		l.Go(background, "queued", func(context.Context) error { t.Error("it ran"); return nil }),
	}
	eventually(t, "each to be in its place", func() bool {
		st := l.Stats()
		return st.Suspended == 1 && st.Queued == 1 && rt.Stats().Tasks == 4
	})
	ctx, cancel := soon()
	defer cancel()
	must(t, rt.Shutdown(ctx))
	for _, h := range handles {
		if err := h.Wait(background); !errors.Is(err, ErrShutdown) {
			t.Errorf("%v", err)
		}
	}
	checkFree(t, rt)
}

// The error names the tasks that do not end.
func TestShutdownNamesWhatIsLeft(t *testing.T) {
	shorter(t, &shutdownGrace)
	rt, err := New(Config{Slots: 2, StallAfter: -1})
	must(t, err)
	gate := make(chan struct{})
	release := taken(t, rt.Loop())
	h := newLoopOf(t, rt, "other", 1).Go(background, "deaf", func(ctx context.Context) error {
		return rt.Loop().Run(background, "never", func(context.Context) error { return nil })
	})
	deaf := (*rt.loops.Load())[1].Go(background, "blocked", func(ctx context.Context) error {
		defer SafePoint(ctx)
		return Block(ctx, func() error { <-gate; return nil })
	})
	eventually(t, "it to block", func() bool { return deaf.Task().Status() == Started && rt.Stats().Tasks == 5 })
	ctx, cancel := soon()
	defer cancel()
	err = rt.Shutdown(ctx)
	var left *ShutdownError
	if !errors.As(err, &left) || !slices.Equal(left.Tasks, []string{"blocked", "holder", "holder"}) || !strings.Contains(err.Error(), "holder") {
		t.Errorf("got %v", err)
	}
	// They still end, and find their runtime.
	release()
	close(gate)
	<-h.Done()
	if err := deaf.Wait(background); !errors.Is(err, ErrShutdown) {
		t.Error(err)
	}
	checkFree(t, rt)
}

// After Shutdown every function reports it, and none hangs.
func TestAfterShutdown(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	r := register(t, rt, Policy{Name: "p", On: Every(time.Millisecond), Expr: `task.running > duration("1h") ? throw("x") : continue()`})
	must(t, rt.Shutdown(background))
	must(t, rt.Shutdown(background)) // again
	ran := func(context.Context) error { t.Error("it ran"); return nil }
	if err := rt.Run(background, "job", ran); !errors.Is(err, ErrShutdown) {
		t.Errorf("Run: %v", err)
	}
	if err := rt.Go(background, "job", ran).Wait(background); !errors.Is(err, ErrShutdown) {
		t.Errorf("Go: %v", err)
	}
	if _, err := rt.NewLoop(LoopConfig{Name: "l"}); !errors.Is(err, ErrShutdown) {
		t.Errorf("NewLoop: %v", err)
	}
	if _, err := rt.RegisterPolicy(Policy{Name: "q", On: OnStart, Expr: `continue()`}); !errors.Is(err, ErrShutdown) {
		t.Errorf("RegisterPolicy: %v", err)
	}
	if err := r.Update(Policy{On: OnStart, Expr: `continue()`}); !errors.Is(err, ErrGone) && !errors.Is(err, ErrShutdown) {
		t.Errorf("Update: %v", err)
	}
	r.Cancel()
	r.Stats()
	r.Warnings()
	if p := r.Policy(); p.Name != "p" {
		t.Errorf("Policy: %+v", p)
	}
	rt.Notify("x", 1)
	rt.Stats()
	rt.Loop().Hold()
	rt.Loop().Release()
}

// The second Shutdown waits for the first, or for the end of its own context.
func TestSecondShutdownWaits(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	release := taken(t, rt.Loop())
	down := make(chan error)
	go func() { down <- rt.Shutdown(background) }()
	eventually(t, "the first", refuses(rt))
	ctx, cancel := soon()
	defer cancel()
	if err := rt.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the second: %v", err)
	}
	release()
	must(t, receive(t, "the first", down))
	must(t, rt.Shutdown(background))
}

// Held tasks, and policies that have just cancelled themselves, do not disturb Shutdown.
func TestShutdownOfALoopOnHold(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	register(t, rt, Policy{Name: "self", On: OnEnqueue, Expr: `cancel()`})
	rt.Loop().Hold()
	h := rt.Go(background, "held", func(context.Context) error { t.Error("it ran"); return nil })
	eventually(t, "it to wait", func() bool { return rt.Loop().Stats().Queued == 1 })
	ctx, cancel := soon()
	defer cancel()
	must(t, rt.Shutdown(ctx))
	if err := h.Wait(background); !errors.Is(err, ErrShutdown) {
		t.Error(err)
	}
}

// A task that waits for its children is told of the shutdown before it sees the first of them end.
func TestShutdownTellsParentsFirst(t *testing.T) {
	for range 50 {
		rt, err := New(Config{Slots: 2})
		must(t, err)
		begun := make(chan struct{}, 5)
		var told atomic.Bool
		h := rt.Go(background, "parent", func(ctx context.Context) error {
			var kids []*Handle
			for range 4 {
				kids = append(kids, rt.Go(ctx, "child", func(ctx context.Context) error {
					begun <- struct{}{}
					<-ctx.Done()
					return context.Cause(ctx)
				}))
			}
			begun <- struct{}{}
			for _, kid := range kids {
				if err := kid.Wait(context.WithoutCancel(ctx)); err != nil {
					told.Store(Thrown(ctx) != nil)
					return err
				}
			}
			return nil
		})
		for range 5 {
			receive(t, "the tasks", begun)
		}
		ended, cancel := context.WithCancel(background)
		cancel()
		must(t, rt.Shutdown(ended))
		<-h.Done()
		if !told.Load() {
			t.Fatal("a child had ended, and the parent had no throw")
		}
	}
}
