package cocoon

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
)

// A task may return before its children have: it remains their parent, and its context ends with
// the last of them.
func TestParentReturnsBeforeItsChildren(t *testing.T) {
	rt := start(t, Config{Slots: 2})
	gate := make(chan struct{})
	var kept context.Context
	var children []*Handle
	parent := rt.Go(background, "import", func(ctx context.Context) error {
		kept = ctx
		for range 3 {
			children = append(children, rt.Go(ctx, "parse", func(ctx context.Context) error {
				return Block(ctx, func() error { <-gate; return ctx.Err() })
			}))
		}
		return nil
	})
	must(t, parent.Wait(background))
	if n := len(parent.Task().Children()); n != 3 || parent.Task().Status() != Returned {
		t.Errorf("%d children, %v", n, parent.Task().Status())
	}
	if kept.Err() != nil {
		t.Errorf("the parent's context ended before its children: %v", kept.Err())
	}
	close(gate)
	for _, c := range children {
		must(t, c.Wait(background))
	}
	receive(t, "the end of the parent's context", kept.Done())
	if n := len(parent.Task().Children()); n != 0 {
		t.Errorf("%d children are left", n)
	}
}

// A child that is started with context.WithoutCancel goes on when the context of its parent's caller
// ends. It still is a child of the task that has ended: the guide says so.
func TestChildWithoutCancel(t *testing.T) {
	rt := start(t, Config{Slots: 2})
	caller, leave := context.WithCancel(background)
	defer leave()
	gate := make(chan struct{})
	var child *Handle
	parent := rt.Go(caller, "parent", func(ctx context.Context) error {
		child = rt.Go(context.WithoutCancel(ctx), "child", func(ctx context.Context) error {
			return Block(ctx, func() error {
				select {
				case <-ctx.Done():
					return context.Cause(ctx)
				case gate <- struct{}{}:
					<-ctx.Done()
					return context.Cause(ctx)
				}
			})
		})
		return nil
	})
	must(t, parent.Wait(background))
	leave()
	receive(t, "the child after the end of the caller's context", gate)
	if path := child.Task().Path(); path != "parent/child" {
		t.Errorf("the path of the child is %q", path)
	}
	parent.Cancel()
	var thrown *PreemptedError
	if err := child.Wait(background); !errors.As(err, &thrown) || !strings.Contains(err.Error(), "cancelled with its parent") {
		t.Errorf("after Cancel of the parent, the child's error is %v", err)
	}
}

// A grandchild keeps the contexts of all tasks above it alive.
func TestGrandchildKeepsTheTreeAlive(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	gate := make(chan struct{})
	contexts := make(chan context.Context, 2)
	grandchild := make(chan *Handle, 1)
	rt.Go(background, "a", func(ctx context.Context) error {
		contexts <- ctx
		rt.Go(ctx, "b", func(ctx context.Context) error {
			contexts <- ctx
			grandchild <- rt.Go(ctx, "c", func(ctx context.Context) error {
				return Block(ctx, func() error { <-gate; return nil })
			})
			return nil
		})
		return nil
	})
	c := receive(t, "the grandchild", grandchild)
	eventually(t, "it to be alone", func() bool { return rt.Stats().Tasks == 1 })
	for range 2 {
		ctx := <-contexts
		if ctx.Err() != nil {
			t.Errorf("%s: %v", TaskOf(ctx).Path(), ctx.Err())
		}
		defer receive(t, "its end", ctx.Done())
	}
	if p := c.Task().Path(); p != "a/b/c" {
		t.Error(p)
	}
	close(gate)
	must(t, c.Wait(background))
}

// Cancelling a parent cancels its children, in every state. The errors name both.
func TestCancelReachesTheChildren(t *testing.T) {
	rt := start(t, Config{Slots: 2, StallAfter: -1})
	blocking := make(chan struct{})
	var queued, blocked *Handle
	parent := rt.Go(background, "parent", func(ctx context.Context) error {
		blocked = rt.Go(ctx, "blocked", func(ctx context.Context) error {
			return Block(ctx, func() error { close(blocking); <-ctx.Done(); return ctx.Err() })
		})
		<-blocking
		release := taken(t, newLoopOf(t, rt, "busy", 1))
		defer release()
		queued = (*rt.loops.Load())[1].Go(ctx, "queued", func(context.Context) error { t.Error("it ran"); return nil })
		eventually(t, "it to wait", func() bool { return (*rt.loops.Load())[1].Stats().Queued == 1 })
		TaskOf(ctx).Cancel()
		if err := queued.Wait(background); !errors.Is(err, ErrCancelled) || queued.Task().Status() != CancelledBeforeStart {
			t.Errorf("queued: %v, %v", err, queued.Task().Status())
		}
		return spinForever(ctx)
	})
	if err := parent.Wait(background); !errors.Is(err, ErrCancelled) {
		t.Errorf("parent: %v", err)
	}
	err := blocked.Wait(background)
	if !errors.Is(err, ErrCancelled) || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "parent/blocked") {
		t.Errorf("blocked: %v", err)
	}
	if s := blocked.Task().Status(); s != CancelledBeforeReturn {
		t.Errorf("blocked: %v", s)
	}
}

// A task cancelled before its arrival never starts. The same holds for a task with a cancelled
// parent.
func TestCancelRightAfterGo(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	for range 500 {
		ran := false
		h := rt.Go(background, "job", func(ctx context.Context) error { ran = true; return spinForever(ctx) })
		h.Cancel()
		if err := h.Wait(background); !errors.Is(err, ErrCancelled) {
			t.Fatalf("got %v", err)
		}
		if s := h.Task().Status(); ran != (s == CancelledBeforeReturn) || s < CancelledBeforeStart {
			t.Fatalf("ran %v, %v", ran, s)
		}
		h.Cancel() // no effect on a task that has ended
	}
	release := taken(t, rt.Loop())
	var handles []*Handle
	for range 10 {
		h := rt.Go(background, "job", func(context.Context) error { t.Error("it ran"); return nil })
		h.Cancel()
		handles = append(handles, h)
	}
	for _, h := range handles {
		if err := h.Wait(background); !errors.Is(err, ErrCancelled) || h.Task().Status() != CancelledBeforeStart {
			t.Errorf("%v, %v", err, h.Task().Status())
		}
	}
	release()
}

// A task cancelled while it is suspended is thrown into as soon as it has a slot again.
func TestCancelWhileSuspended(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	must(t, rt.RegisterPreemptibleFunc("scan"))
	must(t, rt.RegisterSafeFunc("get"))
	_, err := rt.RegisterDefaultPreemption(OnEnqueue)
	must(t, err)
	l := oneSlot(t, rt)
	running := make(chan struct{})
	scan := l.Go(background, "scan", func(ctx context.Context) error { close(running); return spinForever(ctx) })
	receive(t, "the scan", running)
	must(t, l.Run(background, "get", func(context.Context) error {
		if st := l.Stats(); st.Suspended != 1 {
			t.Errorf("%+v", st)
		}
		scan.Cancel()
		receive(t, "the end of its context", scan.Task().cancellation().Done())
		if closed(scan.Done()) {
			t.Error("it ended without a slot")
		}
		return nil
	}))
	if err := scan.Wait(background); !errors.Is(err, ErrCancelled) {
		t.Error(err)
	}
}

// Invariant 5: tasks that panic, exit, or are thrown into give their slots back, with Go and with
// Run.
func TestSlotsComeBack(t *testing.T) {
	rt := start(t, Config{Slots: 2, StallAfter: -1})
	ends := map[string]struct {
		end  func(context.Context) error
		want func(error) bool
	}{
		"panic":     {func(context.Context) error { panic("x") }, func(err error) bool { var p *PanicError; return errors.As(err, &p) && len(p.Stack) > 0 }},
		"panic err": {func(context.Context) error { panic(errHammer) }, func(err error) bool { return errors.Is(err, errHammer) }},
		"goexit":    {func(context.Context) error { runtime.Goexit(); return nil }, func(err error) bool { return errors.Is(err, ErrGoexit) }},
		"throw":     {func(ctx context.Context) error { TaskOf(ctx).Cancel(); return spinForever(ctx) }, func(err error) bool { return errors.Is(err, ErrCancelled) }},
		"block":     {func(ctx context.Context) error { return Block(ctx, func() error { panic("x") }) }, func(err error) bool { var p *PanicError; return errors.As(err, &p) }},
		"exit in block": {func(ctx context.Context) error { return Block(ctx, func() error { runtime.Goexit(); return nil }) },
			func(err error) bool { return errors.Is(err, ErrGoexit) }},
		"nil function": {nil, func(err error) bool { return errors.Is(err, errNilFunc) }},
	}
	for name, c := range ends {
		for range 5 {
			if err := rt.Go(background, "job", c.end).Wait(background); !c.want(err) {
				t.Errorf("%s: %v", name, err)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() { recover() }()
				rt.Run(background, "job", c.end)
			}()
			receive(t, name, done)
		}
	}
	eventually(t, "all slots to be free", func() bool { return rt.Loop().Stats().Busy == 0 })
	checkFree(t, rt)
	if n := rt.Stats().Loops[0].Refused; n != 0 {
		t.Errorf("%d refused", n)
	}
}

// A panic of Run's function reaches the caller, with its value.
func TestPanicPassesThroughRun(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	defer func() {
		if r := recover(); r != "boom" {
			t.Errorf("recovered %v", r)
		}
		checkFree(t, rt)
	}()
	rt.Run(background, "job", func(context.Context) error { panic("boom") })
}

func TestLockedThread(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	must(t, rt.RegisterPreemptibleFunc("locked"))
	must(t, rt.RegisterSafeFunc("get"))
	_, err := rt.RegisterDefaultPreemption(OnEnqueue)
	must(t, err)
	running, done := make(chan struct{}), make(chan struct{})
	h := rt.Go(background, "locked", func(ctx context.Context) error {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		close(running)
		spin(ctx, done)
		return Block(ctx, func() error { return nil })
	})
	receive(t, "it", running)
	for range 20 {
		must(t, rt.Run(background, "get", func(context.Context) error { return nil }))
	}
	close(done)
	must(t, h.Wait(background))
	if h.Account().Preemptions == 0 {
		t.Error("it was never switched out")
	}
}

// nested starts a task with others nested in it, depth deep. The innermost passes no safe point
// until gate is closed. All have the parent's context, or each a context made from it.
func nested(t *testing.T, rt *Runtime, depth int, derived bool, gate chan struct{}) *Handle {
	var inner func(ctx context.Context, n int) error
	there := make(chan struct{})
	inner = func(ctx context.Context, n int) error {
		if n == 0 {
			close(there)
			<-gate
			SafePoint(ctx)
			return nil
		}
		if derived {
			var cancel context.CancelFunc
			ctx, cancel = context.WithCancel(ctx)
			defer cancel()
		}
		return rt.Run(ctx, "inner", func(ctx context.Context) error { return inner(ctx, n-1) })
	}
	h := rt.Go(background, "outer", func(ctx context.Context) error { return inner(ctx, depth) })
	receive(t, "the innermost task", there)
	return h
}

// Cancel and Shutdown visit each nested task once, not twice as many tasks at each depth.
func TestCancelDeeplyNested(t *testing.T) {
	shorter(t, &shutdownGrace)
	for name, derived := range map[string]bool{"the parent's context": false, "a derived context": true} {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 2, StallAfter: -1})
			gate := make(chan struct{})
			h := nested(t, rt, 100, derived, gate)
			within(t, "Cancel", h.Cancel)
			close(gate)
			if err := h.Wait(background); !errors.Is(err, ErrCancelled) {
				t.Errorf("got %v", err)
			}

			gate = make(chan struct{})
			h = nested(t, rt, 100, derived, gate)
			ctx, cancel := soon()
			defer cancel()
			within(t, "Shutdown", func() { rt.Shutdown(ctx) })
			eventually(t, "the end of its goroutines", func() bool {
				buf := make([]byte, 1<<20)
				return !strings.Contains(string(buf[:runtime.Stack(buf, true)]), "cocoon.(*Runtime).Shutdown")
			})
			close(gate)
			<-h.Done()
		})
	}
}

// The error of a task that was thrown into names the task once, and so does that of another.
func TestTaskErrorNamesTheTaskOnce(t *testing.T) {
	thrown := &PreemptedError{Task: "a", Reason: "too long"}
	for _, x := range []struct {
		of   *TaskError
		want string
	}{
		{&TaskError{Task: "a", Err: errors.New("no rows")}, `task "a": no rows`},
		{&TaskError{Task: "a", Err: thrown}, thrown.Error()},
		{&TaskError{Task: "parent", Err: thrown}, `task "parent": ` + thrown.Error()},
	} {
		if got := x.of.Error(); got != x.want {
			t.Errorf("got %s; want %s", got, x.want)
		}
	}
}

// Wait inside a task gives the slot to the child.
func TestWaitInsideATask(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	want := errors.New("x")
	within(t, "the child", func() {
		err := rt.Run(background, "parent", func(ctx context.Context) error {
			return rt.Go(ctx, "child", func(context.Context) error { return want }).Wait(ctx)
		})
		var te *TaskError
		if !errors.Is(err, want) || !errors.As(err, &te) || te.Task != "parent/child" {
			t.Errorf("got %v", err)
		}
	})
	gate := make(chan struct{})
	h := rt.Go(background, "long", func(ctx context.Context) error { return Block(ctx, func() error { <-gate; return nil }) })
	ctx, cancel := context.WithCancelCause(background)
	cancel(want)
	if err := h.Wait(ctx); err != want {
		t.Errorf("Wait whose context has ended: %v", err)
	}
	close(gate)
	must(t, h.Wait(background))
}

// The end of a task visits each task below it once. When each of them ended the contexts of all
// tasks below it again, a chain of 5000 tasks took 2 s to end. Each visit allocates, so the test
// counts allocations.
func TestCancelOfAChainVisitsEachTaskOnce(t *testing.T) {
	short, long := allocsOfCancel(t, 100), allocsOfCancel(t, 1000)
	if long > 2*short {
		t.Errorf("%.0f allocations a task in a chain of 1000 tasks, %.0f in one of 100", long, short)
	}
}

// allocsOfCancel cancels the first of n tasks, each started by the one before, none of which ends
// meanwhile, and returns the allocations for each task.
func allocsOfCancel(t *testing.T, n int) float64 {
	rt := start(t, Config{Slots: 1})
	deepest, gate := make(chan struct{}), make(chan struct{})
	var link func(left int) func(context.Context) error
	link = func(left int) func(context.Context) error {
		return func(ctx context.Context) error {
			ctx.Done() // so that each task has a context of its own to end
			if left == 0 {
				close(deepest)
			} else {
				rt.Go(ctx, "link", link(left-1))
			}
			return Block(ctx, func() error { <-gate; return nil })
		}
	}
	first := rt.Go(background, "link", link(n))
	receive(t, "the last task", deepest)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	first.Cancel()
	runtime.ReadMemStats(&after)
	close(gate)
	return float64(after.Mallocs-before.Mallocs) / float64(n)
}
