package cocoon

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/inside"
)

// briefly makes a brief call.
func briefly(t *testing.T, ctx context.Context, fn func()) {
	t.Helper()
	brieflyDo(t, ctx, inside.Writes, fn)
}

func brieflyDo(t *testing.T, ctx context.Context, what inside.Brief, fn func()) {
	t.Helper()
	call, err := beginBrief(ctx, what)
	must(t, err)
	defer call.End()
	fn()
}

// queued waits until a task waits for a slot.
func queued(t *testing.T, rt *Runtime) {
	t.Helper()
	eventually(t, "a task to wait", func() bool { return rt.Loop().Stats().Queued == 1 })
}

// A task in a brief call keeps its slot while another waits, as long as it runs; when it waits, the
// other has the slot.
func TestBriefCall(t *testing.T) {
	goroutine.Learn() // before, a brief call gives its slot up like a Block
	rt := start(t, Config{Slots: 1, StallAfter: time.Hour})
	var other atomic.Bool
	var s *strand
	gate := make(chan struct{})
	h := rt.Go(background, "calls", func(ctx context.Context) error {
		s = TaskOf(ctx).strand
		waiting := rt.Go(background, "waits", func(context.Context) error { other.Store(true); close(gate); return nil })
		queued(t, rt)
		briefly(t, ctx, func() { work(time.Duration(maxKeep) / 4) })
		if other.Load() || s.slow.Load() != 0 {
			t.Error("it has lost its slot, though it did not wait")
		}
		s.keptFrom = 0 // however long that took
		briefly(t, ctx, func() { <-gate })
		if s.slow.Load() != slowCalls {
			t.Errorf("it gives its slot up for %d more calls; want %d", s.slow.Load(), slowCalls)
		}
		return waiting.Wait(background)
	})
	must(t, h.Wait(background))
	if a := h.Account(); a.Blocked < time.Duration(maxKeep)/4 {
		t.Errorf("it was blocked for %v; a call is no running", a.Blocked)
	}
	if n := rt.Stats().Loops[0].Waits; n > 1 { // that for the other task's end
		t.Errorf("%d waits were unannounced", n)
	}
}

// A task that makes brief calls and never waits delays other tasks for a bounded time.
func TestBriefCallsEnd(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: time.Hour})
	var other atomic.Bool
	must(t, rt.Run(background, "calls", func(ctx context.Context) error {
		h := rt.Go(background, "waits", func(context.Context) error { other.Store(true); return nil })
		queued(t, rt)
		begin := time.Now()
		eventually(t, "the other task", func() bool {
			briefly(t, ctx, func() { work(10 * time.Microsecond) })
			return other.Load()
		})
		if d := time.Since(begin); d < time.Duration(maxKeep) {
			t.Errorf("it gave its slot up after %v", d)
		}
		return Block(ctx, func() error { return h.Wait(background) })
	}))
}

// A task with a slow client gives its slot up before the next calls.
func TestBriefCallOfSlowClient(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: time.Hour})
	must(t, rt.Run(background, "calls", func(ctx context.Context) error {
		TaskOf(ctx).strand.slow.Store(2)
		for _, want := range []bool{true, true, false} {
			var other atomic.Bool
			waiting := rt.Go(background, "waits", func(context.Context) error { other.Store(true); return nil })
			queued(t, rt)
			briefly(t, ctx, func() {
				if want {
					eventually(t, "the other task", other.Load)
				}
			})
			if other.Load() != want {
				t.Errorf("the other task ran: %v; want %v", !want, want)
			}
			must(t, Block(ctx, func() error { return waiting.Wait(background) }))
		}
		return nil
	}))
}

// While a time policy may act on the task, a call that runs code of the program counts as running,
// and its waits are no unannounced waits.
func TestBriefCallThatWorks(t *testing.T) {
	goroutine.Learn()
	rt := start(t, Config{Slots: 1, StallAfter: time.Hour})
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "calls", Limit: time.Hour})
	must(t, err)
	h := rt.Go(background, "calls", func(ctx context.Context) error {
		s := TaskOf(ctx).strand
		brieflyDo(t, ctx, inside.Works, func() { work(5 * time.Millisecond) })
		gate := make(chan struct{})
		waiting := rt.Go(background, "waits", func(context.Context) error { close(gate); return nil })
		brieflyDo(t, ctx, inside.Works, func() { <-gate })
		if what := inside.Brief(s.brief.Load()); what != inside.None {
			t.Errorf("a call of kind %d goes on after its end", what)
		}
		return Block(ctx, func() error { return waiting.Wait(background) })
	})
	must(t, h.Wait(background))
	if a := h.Account(); a.Running+a.Starved < 5*time.Millisecond {
		t.Errorf("its account is %+v", a)
	}
	if n := rt.Stats().Loops[0].Waits; n != 0 {
		t.Errorf("%d waits were unannounced", n)
	}
}

// A loop that lends no slot looks for no task that waits: there a brief call gives the slot up.
func TestBriefCallOfExclusiveLoop(t *testing.T) {
	rt := start(t, Config{})
	l, err := rt.NewLoop(LoopConfig{Name: "one", Slots: 1, Exclusive: true})
	must(t, err)
	_, err = rt.RegisterTimeLimit(TimeLimit{Func: "calls", Limit: time.Hour})
	must(t, err)
	must(t, l.Run(background, "calls", func(ctx context.Context) error {
		h := l.Go(background, "waits", func(context.Context) error { return nil })
		briefly(t, ctx, func() { must(t, h.Wait(background)) })
		h = l.Go(background, "waits", func(context.Context) error { return nil })
		brieflyDo(t, ctx, inside.Works, func() { must(t, h.Wait(background)) })
		return nil
	}))
}

// A message that is sent or received without a wait counts as running, and a wait for one does not.
// A send that waits has a slow client; a receive that waits has not.
func TestBriefMessages(t *testing.T) {
	goroutine.Learn()
	for what, slow := range map[inside.Brief]int32{inside.Sends: slowCalls, inside.Receives: 0, inside.None: 0} {
		rt := start(t, Config{Slots: 1, StallAfter: time.Hour})
		if _, ok := goroutine.Leaves(); !ok {
			t.Skip("this platform does not tell whether a goroutine has waited")
		}
		must(t, rt.Run(background, "calls", func(ctx context.Context) error {
			s := TaskOf(ctx).strand
			eventually(t, "a call that does not stop running", func() bool {
				before := s.rest.Load()
				brieflyDo(t, ctx, what, func() { work(time.Microsecond) })
				return s.rest.Load() == before
			})
			before := s.rest.Load()
			brieflyDo(t, ctx, what, func() { time.Sleep(time.Millisecond) })
			if rest := time.Duration(s.rest.Load() - before); rest < time.Millisecond {
				t.Errorf("kind %d: a wait of a millisecond is a rest of %v", what, rest)
			}
			gate := make(chan struct{})
			other := rt.Go(background, "waits", func(context.Context) error { close(gate); return nil })
			queued(t, rt)
			s.keptFrom = 0 // however long that took
			brieflyDo(t, ctx, what, func() { <-gate })
			if n := s.slow.Load(); n != slow {
				t.Errorf("kind %d: it gives its slot up for %d more calls; want %d", what, n, slow)
			}
			return other.Wait(background)
		}))
	}
}

// A task in a brief call that is back from a wait, but has no P, loses its slot to a task that has
// one: if that task waited, each would wait for the other's turn.
func TestBriefCallWithoutP(t *testing.T) {
	goroutine.Learn()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	rt := start(t, Config{Slots: 1, StallAfter: time.Hour, KeepProcs: true})
	const tries = 20
	first := 0
	for range tries {
		gate := make(chan struct{})
		var back atomic.Bool
		var id atomic.Uintptr
		h := rt.Go(background, "calls", func(ctx context.Context) error {
			id.Store(goroutine.ID())
			briefly(t, ctx, func() { <-gate; back.Store(true) })
			return nil
		})
		eventually(t, "the call to wait", func() bool { return goroutine.StatusOf(id.Load()) == goroutine.Waiting })
		close(gate)
		must(t, rt.Run(background, "arrives", func(context.Context) error {
			if !back.Load() {
				first++
			}
			return nil
		}))
		must(t, h.Wait(background))
	}
	if first < tries/4 { // the collector may take the P
		t.Errorf("the task that arrived ran before the other had a P %d of %d times", first, tries)
	}
}

// A task that is back from the wait for a message lets the holder of its slot run on, if the holder
// has no P, and does not queue.
func TestStepBack(t *testing.T) {
	goroutine.Learn()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	rt := start(t, Config{Slots: 1, StallAfter: time.Hour, KeepProcs: true})
	if _, ok := goroutine.Leaves(); !ok {
		t.Skip("this platform does not tell whether a goroutine has waited")
	}
	const tries = 20
	var clock cpuClock
	end := time.Now().Add(patience)
	queued := 0
	for done := 0; done < tries && time.Now().Before(end); {
		gate := make(chan struct{})
		var id atomic.Uintptr
		h := rt.Go(background, "receives", func(ctx context.Context) error {
			id.Store(goroutine.ID())
			brieflyDo(t, ctx, inside.Receives, func() { <-gate })
			return nil
		})
		eventually(t, "the receive to wait", func() bool { return goroutine.StatusOf(id.Load()) == goroutine.Waiting })
		must(t, rt.Run(background, "holds", func(context.Context) error {
			wanting, _ := clock.counts.wanting()
			alone := wanting == 0 // no goroutine of another test takes the P in between
			close(gate)
			runtime.Gosched() // the other has the P
			if alone {
				if done++; rt.Loop().wanted.Load() {
					queued++
				}
			}
			return nil
		}))
		must(t, h.Wait(background))
	}
	if queued > tries/4 { // the collector may take the P
		t.Errorf("the task that was back queued %d of %d times", queued, tries)
	}
}

// Outside of tasks, and inside of Block, there is nothing to begin.
func TestBriefCallOfNoTask(t *testing.T) {
	rt := start(t, Config{})
	none := func(ctx context.Context) {
		if call, err := beginBrief(ctx, inside.Writes); call.Task != nil || err != nil {
			t.Errorf("%v, %v", call, err)
		}
	}
	none(background)
	must(t, rt.Run(background, "calls", func(ctx context.Context) error {
		return Block(ctx, func() error { none(ctx); return nil })
	}))
}

// A watcher is called once, when a throw has ended the task's context.
func TestOnThrow(t *testing.T) {
	rt := start(t, Config{})
	for name, c := range map[string]struct {
		begin  func(ctx context.Context) (context.Context, context.CancelFunc)
		inside func(t *testing.T, ctx context.Context, watch func())
		want   int32
	}{
		"before the throw": {nil, func(_ *testing.T, ctx context.Context, watch func()) { watch(); TaskOf(ctx).Cancel() }, 1},
		"after the throw":  {nil, func(_ *testing.T, ctx context.Context, watch func()) { TaskOf(ctx).Cancel(); watch() }, 1},
		"two":              {nil, func(_ *testing.T, ctx context.Context, watch func()) { watch(); watch(); TaskOf(ctx).Cancel() }, 2},
		"no throw":         {nil, func(_ *testing.T, _ context.Context, watch func()) { watch() }, 0},
		"the context given ends": {context.WithCancel, func(_ *testing.T, ctx context.Context, watch func()) {
			watch()
			<-ctx.Done()
		}, 0},
		"a child": {nil, func(t *testing.T, ctx context.Context, watch func()) {
			err := rt.Run(ctx, "child", func(inner context.Context) error {
				var called atomic.Bool
				onThrow(inner, func() { called.Store(true) })
				TaskOf(ctx).Cancel()
				return stall(called.Load)
			})
			if err != nil && !errors.Is(err, ErrCancelled) {
				t.Error(err)
			}
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, end := background, context.CancelFunc(func() {})
			if c.begin != nil {
				ctx, end = c.begin(ctx)
				time.AfterFunc(time.Millisecond, end)
			}
			defer end()
			var calls atomic.Int32
			rt.Run(ctx, "watched", func(ctx context.Context) error {
				c.inside(t, ctx, func() { onThrow(ctx, func() { calls.Add(1) }) })
				return nil
			})
			if c.want > 0 {
				eventually(t, "the calls", func() bool { return calls.Load() >= c.want })
			}
			time.Sleep(5 * time.Millisecond)
			if n := calls.Load(); n != c.want {
				t.Errorf("%d calls, want %d", n, c.want)
			}
		})
	}
}

// A stopped watcher is not called; the other watchers are.
func TestOnThrowStopped(t *testing.T) {
	rt := start(t, Config{})
	var calls atomic.Int32
	rt.Run(background, "watched", func(ctx context.Context) error {
		watch := func(n int32) (stop func() bool) { return onThrow(ctx, func() { calls.Add(n) }) }
		first, second, third := watch(1), watch(10), watch(100)
		if !second() || second() {
			t.Error("one is stopped once")
		}
		TaskOf(ctx).Cancel()
		eventually(t, "the calls", func() bool { return calls.Load() == 101 })
		if first() || third() {
			t.Error("what was called can't be stopped")
		}
		return nil
	})
}
