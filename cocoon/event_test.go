package cocoon

import (
	"context"
	"errors"
	"testing"
	"time"
)

// A throw on enqueue refuses the task before it starts, whether it would wait or get a slot at
// once.
func TestEnqueueThrowRefuses(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	r := register(t, rt, Policy{Name: "shed", On: OnEnqueue, Expr: `arriving.name == "job" ? throw("not now") : continue()`})
	check := func(h *Handle) {
		t.Helper()
		err := h.Wait(background)
		if pe := preemption(t, err); pe.Started || pe.Policy != "shed" || pe.Reason != "not now" || pe.Where() != "" {
			t.Errorf("%+v", pe)
		}
		if h.Task().Status() != CancelledBeforeStart {
			t.Error(h.Task().Status())
		}
	}
	never := func(context.Context) error { t.Error("it ran"); return nil }
	check(rt.Go(background, "job", never))
	release := taken(t, rt.Loop())
	check(rt.Go(background, "job", never))
	release()
	if st := rt.Loop().Stats(); r.Stats().Refusals != 2 || st.Refused != 2 || r.Stats().Throws != 0 {
		t.Errorf("%+v, %+v", r.Stats(), st)
	}
	checkFree(t, rt)
}

// A throw on start ends the task before its function is called.
func TestStartThrowEndsTheTask(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	register(t, rt, Policy{Name: "no", On: OnStart, Expr: `throw("no")`})
	h := rt.Go(background, "job", func(context.Context) error { t.Error("it ran"); return nil })
	if pe := preemption(t, h.Wait(background)); pe.Started || h.Task().Status() != CancelledBeforeStart {
		t.Errorf("%+v, %v", pe, h.Task().Status())
	}
	preemption(t, rt.Run(background, "job", func(context.Context) error { t.Error("it ran"); return nil }))
}

// Each event is seen once per task, with its task.
func TestEventsOfATask(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	newly := newLoopOf(t, rt, "new", 1)
	events := map[string]Trigger{"enqueue": OnEnqueue, "start": OnStart, "block": OnBlock, "unblock": OnUnblock, "exit": OnExit}
	for name, on := range events {
		must(t, rt.RegisterState(map[string]any{name: 0}))
		register(t, rt, Policy{Name: name, On: on, Match: Match{Tasks: []string{"job"}}, Expr: `set("` + name + `", state.` + name + ` + 1)`})
	}
	for range 3 {
		must(t, rt.Run(background, "job", func(ctx context.Context) error {
			must(t, newly.Run(ctx, "other", idle)) // blocks, because it is on another loop
			return Block(ctx, func() error { return nil })
		}))
		must(t, rt.Go(background, "other", func(ctx context.Context) error { return Block(ctx, func() error { return nil }) }).Wait(background))
	}
	for name, want := range map[string]int64{"enqueue": 3, "start": 3, "block": 6, "unblock": 6, "exit": 3} {
		if n := rt.State(name); n != want {
			t.Errorf("%s: %v; want %d", name, n, want)
		}
	}
}

// A throw on block unwinds at the block, and a throw on unblock at the next safe point. A throw on
// exit would come too late, and is refused.
func TestThrowsOnTheOtherEvents(t *testing.T) {
	for name, on := range map[string]Trigger{"block": OnBlock, "unblock": OnUnblock} {
		rt := start(t, Config{Slots: 1})
		register(t, rt, Policy{Name: name, On: on, Expr: `throw("here")`})
		err := rt.Run(background, "job", func(ctx context.Context) error {
			Block(ctx, func() error {
				if name == "block" {
					t.Error("it blocked")
				}
				return nil
			})
			SafePoint(ctx)
			t.Errorf("%s: it went on", name)
			return nil
		})
		preemption(t, err)
	}
	rt := start(t, Config{Slots: 1})
	if _, err := rt.RegisterPolicy(Policy{Name: "exit", On: OnExit, Expr: `throw("too late")`}); err == nil {
		t.Error("a throw on exit is registered")
	}
}

func TestCustomEvents(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"one": 0.0, "any": 0, "named": 0}))
	register(t, rt, Policy{Name: "one", On: OnNotify("deploy"), Expr: `set("one", state.one + event.value)`})
	register(t, rt, Policy{Name: "any", On: OnNotify(""), Expr: `set("any", state.any + 1)`})
	register(t, rt, Policy{Name: "named", On: OnNotify(""), Expr: `event.name == "b" ? set("named", 1) : continue()`})
	rt.Notify("deploy", 2.5)
	rt.Notify("a", 1)
	if rt.State("named") != int64(0) {
		t.Error("event.name of another event")
	}
	rt.Notify("b", 1)
	if rt.State("one") != 2.5 || rt.State("any") != int64(3) || rt.State("named") != int64(1) {
		t.Errorf("%v, %v, %v", rt.State("one"), rt.State("any"), rt.State("named"))
	}
}

// Invariant 9: a suspended task is passed over for a bounded time, although a safe task waits at
// every moment.
func TestSuspendedTaskIsNotStarved(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1, MaxBypass: 5 * time.Millisecond})
	must(t, rt.RegisterPreemptibleFunc("scan"))
	must(t, rt.RegisterSafeFunc("get"))
	_, err := rt.RegisterDefaultPreemption(OnEnqueue)
	must(t, err)
	running, resumed := make(chan struct{}), make(chan struct{})
	scan := rt.Go(background, "scan", func(ctx context.Context) error {
		close(running)
		for TaskOf(ctx).Account().Preemptions == 0 {
			SafePoint(ctx)
		}
		close(resumed)
		return nil
	})
	receive(t, "the scan", running)
	end := time.Now().Add(patience)
	var get func(context.Context) error
	get = func(context.Context) error { // ends when the next get waits
		if closed(resumed) {
			return nil
		}
		if time.Now().After(end) {
			return errors.New("the scan was not resumed while gets came")
		}
		next := rt.Go(background, "get", get)
		for rt.Loop().Stats().QueuedSafe == 0 && !closed(next.Done()) {
			time.Sleep(50 * time.Microsecond)
		}
		return nil
	}
	must(t, rt.Run(background, "get", get))
	receive(t, "the scan to go on, before the gets end", resumed)
	if time.Now().After(end) {
		t.Error("the scan went on only when no get came any more")
	}
	must(t, scan.Wait(background))
}

// Invariant 3: while a preemptible task is suspended only safe tasks start in its place; an atomic
// task waits for its end.
func TestOnlySafeTasksRunMeanwhile(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1, MaxBypass: -1})
	must(t, rt.RegisterPreemptibleFunc("scan"))
	must(t, rt.RegisterSafeFunc("get"))
	_, err := rt.RegisterDefaultPreemption(OnEnqueue)
	must(t, err)
	l := oneSlot(t, rt)
	running, done := make(chan struct{}), make(chan struct{})
	scanning := true // the race detector reports an overlap with the atomic task
	scan := l.Go(background, "scan", func(ctx context.Context) error {
		close(running)
		spin(ctx, done)
		scanning = false
		return nil
	})
	receive(t, "the scan", running)
	atomic := l.Go(background, "atomic", func(context.Context) error {
		if scanning {
			t.Error("an atomic task ran while the scan was half-way")
		}
		return nil
	})
	eventually(t, "it to wait", func() bool { return l.Stats().Queued == 1 })
	for range 50 {
		must(t, l.Run(background, "get", idle))
	}
	close(done)
	must(t, scan.Wait(background))
	must(t, atomic.Wait(background))
	if scan.Account().Preemptions == 0 {
		t.Error("the scan was not switched out")
	}
}

// Backpressure: the queue's bound, the bound on started tasks, and Hold.
func TestBackpressure(t *testing.T) {
	rt := start(t, Config{Slots: 2, MaxQueue: 2, MaxStarted: 2, StallAfter: -1})
	gate := make(chan struct{})
	wait := func(ctx context.Context) error { return Block(ctx, func() error { <-gate; return nil }) }
	var handles []*Handle
	for range 2 {
		handles = append(handles, rt.Go(background, "started", wait))
	}
	eventually(t, "both to block", func() bool { return rt.Stats().Tasks == 2 && rt.Loop().Stats().Busy == 0 })
	for range 2 { // no slot is taken, but the tasks wait
		handles = append(handles, rt.Go(background, "queued", idle))
	}
	eventually(t, "both to wait", func() bool { return rt.Loop().Stats().Queued == 2 })
	if err := rt.Run(background, "refused", idle); !errors.Is(err, ErrOverloaded) {
		t.Errorf("got %v", err)
	}
	close(gate)
	for _, h := range handles {
		must(t, h.Wait(background))
	}
	rt.Loop().Hold()
	rt.Loop().Hold()
	h := rt.Go(background, "held", idle)
	eventually(t, "it to wait", func() bool { return rt.Loop().Stats().Queued == 1 })
	rt.Loop().Release()
	if rt.Loop().Stats().Queued != 1 {
		t.Error("one Release took two Holds back")
	}
	rt.Loop().Release()
	must(t, h.Wait(background))
	defer func() {
		if recover() == nil {
			t.Error("a Release without a Hold did not panic")
		}
		must(t, rt.Run(background, "after", idle)) // and the lock is free
	}()
	rt.Loop().Release()
}

// The account of a task is consistent with the loop's sums.
func TestAccountsAddUp(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	release := taken(t, rt.Loop())
	begin := time.Now()
	h := rt.Go(background, "job", func(ctx context.Context) error {
		must(t, workFor(ctx, 2*time.Millisecond))
		Block(ctx, func() error { time.Sleep(3 * time.Millisecond); return nil })
		return nil
	})
	eventually(t, "it to wait", func() bool { return rt.Loop().Stats().Queued == 1 })
	time.Sleep(2 * time.Millisecond)
	release()
	must(t, h.Wait(background))
	all := time.Since(begin)
	a := h.Account()
	ran := a.Running + a.Starved // on a busy machine it is thought to have had no processor for a part
	if a.Queued < 2*time.Millisecond || ran < 2*time.Millisecond || a.Blocked < 3*time.Millisecond || a.Suspended != 0 {
		t.Errorf("%+v", a)
	}
	if sum := a.Queued + a.Running + a.Blocked; sum > all {
		t.Errorf("%+v is more than the %v that passed", a, all)
	}
	st := rt.Loop().Stats()
	if st.Ended != 2 || st.Queueing.Count() != 2 || st.Queueing.Sum != st.Account.Queued || st.Account.Blocked != a.Blocked || st.Account.Running < a.Running || st.Name != "default" || st.Slots != 1 {
		t.Errorf("%+v", st)
	}
	if q := st.Queueing.Quantile(1); q < a.Queued || float64(q) > 1.1*float64(a.Queued) {
		t.Errorf("the longest wait is %v; want about %v", q, a.Queued)
	}
}
