package cocoon

import (
	"context"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cocoon-go/cocoon/notify"
)

// Code that breaks the rules of bubbles ends the process, or keeps synctest.Test from returning.
// The tests need not check for either.

// crowd runs tasks concurrently that wait for slots and for time.
func crowd(t *testing.T, rt *Runtime) {
	t.Helper()
	var handles []*Handle
	for range 100 {
		handles = append(handles, rt.Go(background, "sleeper", func(ctx context.Context) error {
			SafePoint(ctx)
			return Block(ctx, func() error { time.Sleep(10 * time.Millisecond); return nil })
		}))
	}
	for _, h := range handles {
		must(t, h.Wait(background))
	}
}

// curiousLimit keeps the timer busy, and reads from contexts.
func curiousLimit(t *testing.T, rt *Runtime) *Registration {
	t.Helper()
	return register(t, rt, Policy{Name: "crowd", On: Every(100 * time.Microsecond),
		Expr: `task.cancelled or task.running > duration("10m") ? throw("x") : continue()`})
}

// The tasks of a runtime made in a bubble see the bubble's time, and the bubble ends when the
// runtime is shut down.
func TestARuntimeOfABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt, err := New(Config{Slots: 2})
		must(t, err)
		curiousLimit(t, rt)
		crowd(t, rt)
		begin := time.Now()
		must(t, rt.Run(background, "patient", func(ctx context.Context) error {
			return Block(ctx, func() error { time.Sleep(24 * time.Hour); return nil })
		}))
		if d := time.Since(begin); d != 24*time.Hour {
			t.Errorf("%v passed in the bubble", d)
		}
		must(t, rt.Shutdown(background))
	})
}

// A runtime is used inside and outside of bubbles in turn: strands and their channels are reused in
// each.
func TestARuntimeAroundBubbles(t *testing.T) {
	for name, with := range map[string]func(t *testing.T, use func(*testing.T, *Runtime)){
		"made outside": func(t *testing.T, use func(*testing.T, *Runtime)) {
			rt := start(t, Config{Slots: 2})
			for range 2 {
				use(t, rt)
				synctest.Test(t, func(t *testing.T) { use(t, rt) })
			}
			use(t, rt)
		},
		"made inside": func(t *testing.T, use func(*testing.T, *Runtime)) {
			var rt *Runtime
			synctest.Test(t, func(t *testing.T) {
				var err error
				rt, err = New(Config{Slots: 2})
				must(t, err)
				use(t, rt)
			})
			use(t, rt)
			synctest.Test(t, func(t *testing.T) { use(t, rt) })
			must(t, rt.Shutdown(background))
		},
	} {
		t.Run(name, func(t *testing.T) {
			with(t, func(t *testing.T, rt *Runtime) {
				r := curiousLimit(t, rt)
				crowd(t, rt)
				r.Cancel()
			})
		})
	}
}

// A time limit is real time, in a bubble and after it. A throw ends the context where the task
// responds: the timer must not close a channel of the bubble, however long the task does not
// respond.
func TestAThrowIntoABubble(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	register(t, rt, Policy{Name: "limit", On: Every(time.Millisecond), Expr: `task.running > duration("5ms") ? throw("x") : continue()`})
	run := func(t *testing.T) {
		ctx, cancel := context.WithTimeout(background, time.Hour)
		defer cancel()
		var within context.Context
		preemption(t, rt.Run(ctx, "job", func(ctx context.Context) error {
			within = ctx
			ctx.Done()
			s := strandOf(ctx)
			for s.requests.Load()&wantThrow == 0 {
				runtime.Gosched()
			}
			for end := notify.Now() + 5*int64(grace); notify.Now() < end; {
				runtime.Gosched()
			}
			for {
				SafePoint(ctx)
			}
		}))
		if !closed(within.Done()) {
			t.Error("the task's context has not ended")
		}
	}
	run(t)
	synctest.Test(t, run)
	run(t)
}

// The timer does not look at a context with a Done channel of the bubble, although a policy reads
// whether the context has ended.
func TestTheTimerLeavesTheBubblesContextsAlone(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	r := curiousLimit(t, rt)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(background)
		defer cancel()
		ctx.Done()
		must(t, rt.Run(ctx, "job", func(ctx context.Context) error {
			for seen := r.Stats().Evaluations; r.Stats().Evaluations < seen+10; {
				SafePoint(ctx)
			}
			return nil
		}))
	})
}

// A function that a policy calls in a bubble may use its context there. Shutdown ends it outside.
func TestAFunctionCalledInABubble(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	called := make(chan bool, 1)
	must(t, rt.RegisterSafeFunc(Func{Name: "note", Do: func(ctx context.Context) {
		called <- closed(ctx.Done())
	}}))
	register(t, rt, Policy{Name: "call", On: OnStart, Expr: `call("note")`})
	synctest.Test(t, func(t *testing.T) { must(t, rt.Run(background, "job", idle)) })
	if <-called {
		t.Error("the context of functions has ended")
	}
}

// A task of a bubble may be cancelled from outside. Its own goroutine does the work inside the
// bubble.
func TestCancelFromOutsideOfTheBubble(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	var task atomic.Pointer[Task]
	done := make(chan struct{})
	go func() {
		defer close(done)
		for task.Load() == nil {
			runtime.Gosched()
		}
		task.Load().Cancel()
	}()
	synctest.Test(t, func(t *testing.T) {
		preemption(t, rt.Run(background, "job", func(ctx context.Context) error {
			ctx.Done()
			task.Store(TaskOf(ctx))
			for {
				SafePoint(ctx)
			}
		}))
	})
	receive(t, "Cancel", done)
}

// Shutdown waits in the bubble's time for tasks in a bubble: those that sleep go on sleeping, and
// its deadline comes.
func TestShutdownInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		rt, err := New(Config{Slots: 1})
		must(t, err)
		for range 3 {
			rt.Go(background, "sleeper", func(ctx context.Context) error {
				return Block(ctx, func() error { time.Sleep(time.Hour); return nil })
			})
		}
		synctest.Wait()
		var again sync.WaitGroup
		again.Go(func() { must(t, rt.Shutdown(background)) })
		must(t, rt.Shutdown(background))
		again.Wait()
		if d := time.Since(begin); d < time.Hour || d > time.Hour+2*time.Minute {
			t.Errorf("the tasks slept for an hour, and Shutdown took %v", d)
		}

		begin = time.Now()
		rt, err = New(Config{Slots: 1})
		must(t, err)
		patient := rt.Go(background, "patient", func(ctx context.Context) error {
			return Block(ctx, func() error { <-ctx.Done(); return nil })
		})
		silent := rt.Go(background, "silent", func(ctx context.Context) error { <-ctx.Done(); return nil })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(background, time.Minute)
		defer cancel()
		must(t, rt.Shutdown(ctx))
		if d := time.Since(begin); d < time.Minute || d > time.Minute+shutdownGrace {
			t.Errorf("the deadline of a minute came after %v", d)
		}
		<-patient.Done()
		<-silent.Done()
	})
}

// A reader in a bubble waits in the bubble's time: the deadline of its context comes, and so do
// decisions and the end of the runtime.
func TestReadersOfDecisionsInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt, err := New(Config{Slots: 1})
		must(t, err)
		reader := rt.Decisions(Latest)
		begin := time.Now()
		ctx, cancel := context.WithTimeout(background, time.Hour)
		defer cancel()
		if d, err := reader.Next(ctx); err != context.DeadlineExceeded {
			t.Errorf("before the deadline: %v, %v", d, err)
		}
		if d := time.Since(begin); d != time.Hour {
			t.Errorf("it has waited for %v", d)
		}
		h := rt.Go(background, "late", func(ctx context.Context) error {
			return Block(ctx, func() error { time.Sleep(time.Hour); return nil })
		})
		go func() {
			time.Sleep(time.Minute)
			h.Cancel()
		}()
		if d, err := reader.Next(background); err != nil || d.Task != "late" {
			t.Errorf("after Cancel: %v, %v", d, err)
		}
		go rt.Shutdown(background)
		for range reader.All(background) {
		}
		if _, err := reader.Next(background); err != io.EOF {
			t.Errorf("after the runtime has ended: %v", err)
		}
	})
}
