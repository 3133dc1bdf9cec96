package cocoon

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/notify"
)

// saturate makes the runtime take the process for saturated, for the whole test, and until now with
// one task as all work. Called before the first task.
func saturate(rt *Runtime) {
	goroutine.Learn() // it uses a P
	rt.saturation = saturation{full: true, want: 1, tasks: 1, at: notify.Now(), since: notify.Now() + int64(time.Hour)}
	rt.warmth.full.Store(true)
}

// The statistics say whether the process is saturated, on loops whose tasks may run without slots.
func TestStatsTellSaturation(t *testing.T) {
	rt := start(t, Config{Slots: 2})
	alone, err := rt.NewLoop(LoopConfig{Name: "alone", Slots: 1, Exclusive: true})
	must(t, err)
	if rt.Loop().Stats().Saturated {
		t.Error("an idle process is saturated")
	}
	rt.warmth.told.Store(notify.Now() + int64(time.Minute)) // the timer does not find out meanwhile
	rt.warmth.full.Store(true)
	if !rt.Loop().Stats().Saturated || alone.Stats().Saturated {
		t.Errorf("saturated: %t, and the exclusive loop: %t; want true and false", rt.Loop().Stats().Saturated, alone.Stats().Saturated)
	}
	rt.warmth.full.Store(false)
	if rt.Loop().Stats().Saturated {
		t.Error("the process is still saturated")
	}
}

// crowded starts n goroutines that compute until the test ends.
func crowded(t *testing.T, n int) {
	var over atomic.Bool
	var all sync.WaitGroup
	for range n {
		all.Go(func() { busy(1, &over) })
	}
	t.Cleanup(func() { over.Store(true); all.Wait() })
}

// told computes until stop is set, and reports whether it was.
func told(stop *atomic.Bool) bool {
	for end := time.Now().Add(patience); !stop.Load() && time.Now().Before(end); {
	}
	return stop.Load()
}

// holderOnOneP starts a task that computes in the only slot until came is set, on one P. ended
// waits for its end, and reports whether came was set.
func holderOnOneP(t *testing.T) (rt *Runtime, came *atomic.Bool, ended func() bool) {
	withProcs(t, 1)
	rt = start(t, Config{Slots: 1, StallAfter: -1, KeepProcs: true})
	saturate(rt)
	if goroutine.Learn(); !goroutine.CanTell() {
		t.Skip("the state of goroutines is unknown here")
	}
	if _, known := new(goroutineCounts).wanting(); !known {
		t.Skip("how many goroutines want a P is unknown here")
	}
	came = new(atomic.Bool)
	running, found := make(chan struct{}), false
	h := rt.Go(background, "holder", func(context.Context) error {
		close(running)
		found = told(came)
		return nil
	})
	receive(t, "the holder", running)
	return rt, came, func() bool { must(t, h.Wait(background)); return found }
}

// While other goroutines take the P from the holder of a slot, a task that has a P runs without a
// slot, and so do the tasks after it. One goroutine that takes half of the P is enough.
func TestExtraTaskRuns(t *testing.T) {
	for name, others := range map[string]int{"a crowd": 4, "one other": 1} {
		t.Run(name, func(t *testing.T) { extraTaskRuns(t, others) })
	}
}

func extraTaskRuns(t *testing.T, others int) {
	rt, came, ended := holderOnOneP(t)
	crowded(t, others)
	runtime.Gosched() // they are counted when they want a P
	for range longtest.Count(10, 3) {
		must(t, rt.Run(background, "extra", func(context.Context) error {
			if l := rt.Loop().Stats(); l.Lent != 1 {
				t.Fatalf("%d tasks run without a slot", l.Lent)
			}
			return nil
		}))
	}
	came.Store(true)
	if !ended() {
		t.Error("the task waited until the holder had ended")
	}
	rt.Loop().lockAll()
	defer rt.Loop().unlock()
	if n := rt.Loop().absent.extras; n != 0 {
		t.Errorf("%d extra tasks are left", n)
	}
}

// A sweep asks an extra task that has run for as long as a goroutine's time slice to get a slot.
func TestExtraTaskAsksForASlot(t *testing.T) {
	rt, came, ended := holderOnOneP(t)
	crowded(t, longtest.Count(4, 2))
	runtime.Gosched()
	must(t, rt.Run(background, "extra", func(context.Context) error {
		l, s := rt.Loop(), strandOfGoroutine()
		l.lockAll()
		defer l.unlock()
		l.contended = true // a task waits
		for _, at := range []int64{extraFor / 2, 2 * extraFor} {
			l.sweepAt = 0
			l.sweep(s.core.Since())
			l.sweepAt = s.core.Since() + at
			l.sweep(l.sweepAt)
			if asked := s.requests.Load()&wantProbe != 0; asked != (at > extraFor) || s.lent.isExtra() == asked {
				t.Errorf("after %v: asked for a safe point: %t, an extra task: %t", time.Duration(at), asked, s.lent.isExtra())
			}
		}
		came.Store(true)
		return nil
	}))
	ended()
}

// Tasks that compute make no extra tasks of each other: without other goroutines that want a P, a
// task waits until the holder's slot is free.
func TestNoExtraTaskWithoutACrowd(t *testing.T) {
	withProcs(t, 1)
	rt := start(t, Config{Slots: 1, StallAfter: -1, KeepProcs: true})
	saturate(rt)
	running, waited := make(chan struct{}), false
	h := rt.Go(background, "holder", func(context.Context) error {
		close(running)
		for end := time.Now().Add(patience); !waited && time.Now().Before(end); {
			waited = rt.Loop().wanted.Load()
		}
		return nil
	})
	receive(t, "the holder", running)
	for range 20 { // a goroutine of the Go runtime may want the P at times, and the count is kept
		must(t, rt.Run(background, "no extra", idle))
		time.Sleep(time.Duration(saturationEvery))
	}
	if must(t, h.Wait(background)); !waited {
		t.Error("the task did not wait for the slot")
	}
}

// heldBack starts n tasks that wait for a slot. None starts until the loop's core is released.
func heldBack(t *testing.T, l *Loop, n int, fn func(context.Context) error) (handles []*Handle) {
	t.Helper()
	l.lockAll()
	l.core.Hold()
	l.unlock()
	for range n {
		handles = append(handles, l.Go(background, "waits", fn))
	}
	eventually(t, "them to wait", func() bool { return l.Stats().Queued == n })
	return handles
}

// While a holder of a slot has no P, the next waiting task starts only if the process is saturated,
// other goroutines have a share in that, and the holder has not just been woken.
func TestWhenAnExtraTaskStarts(t *testing.T) {
	rt, came, ended := holderOnOneP(t)
	crowded(t, longtest.Count(4, 2))
	runtime.Gosched()
	l := rt.Loop()
	waits := heldBack(t, l, 1, idle)[0]
	l.lockAll()
	l.core.Release(notify.Now())
	defer func() { l.unlock(); came.Store(true); ended(); must(t, waits.Wait(background)) }()
	for _, c := range []struct {
		full         bool
		others       int64
		soon, starts bool
	}{
		{others: 100},
		{full: true, others: leastShare - 1},
		{full: true, others: 100, soon: true},
		{full: true, others: leastShare, starts: true},
	} {
		now := notify.Now()
		rt.warmth.told.Store(now) // first, so that the timer does not count meanwhile
		rt.warmth.full.Store(c.full)
		rt.warmth.others.Store(c.others)
		h := l.slots[0].firm()
		if was := h.restedAt.Load(); h.status() == goroutine.Ready && c.soon {
			h.restedAt.Store(now)
			defer h.restedAt.Store(was)
		} else if c.soon {
			continue // it has run, and lost its P
		}
		if starts := l.startExtras(now + soonRuns/2); starts != c.starts {
			t.Errorf("%+v: an extra task started: %v", c, starts)
		}
	}
}

// There are at most extraPerSlot extra tasks for each slot, times the share of other goroutines.
func TestExtraTasksAreBounded(t *testing.T) {
	rt, came, ended := holderOnOneP(t)
	crowded(t, longtest.Count(4, 2))
	runtime.Gosched()
	l := rt.Loop()
	end := make(chan struct{})
	handles := heldBack(t, l, 2*extraPerSlot, func(context.Context) error { <-end; return nil })
	l.lockAll()
	l.core.Release(notify.Now())
	for _, share := range []int64{50, 100} {
		now := notify.Now()
		rt.warmth.told.Store(now) // first, so that the timer does not count meanwhile
		rt.warmth.full.Store(true)
		rt.warmth.others.Store(share)
		l.startExtras(now + soonRuns)
		if want := extraPerSlot * int(share) / 100; l.absent.extras != want {
			t.Errorf("%d extra tasks with a share of %d %%, want %d", l.absent.extras, share, want)
		}
	}
	l.unlock()
	close(end)
	came.Store(true)
	ended()
	for _, h := range handles {
		must(t, h.Wait(background))
	}
}

// A sweep is due for an extra task 10 ms after its start, even if nothing has changed among the
// tasks without a slot for a long time.
func TestSweepForAnExtraTaskIsSoon(t *testing.T) {
	rt, came, ended := holderOnOneP(t)
	crowded(t, longtest.Count(4, 2))
	runtime.Gosched()
	l := rt.Loop()
	must(t, rt.Run(background, "first", func(context.Context) error {
		l.lockAll()
		now := notify.Now()
		l.movedAt, l.sweepAt = now-int64(10*time.Second), now
		l.unlock()
		return rt.Run(context.Background(), "second", func(context.Context) error {
			l.lockAll()
			defer l.unlock()
			if idle := notify.Now() - l.movedAt; idle > int64(5*time.Second) {
				t.Errorf("the next sweep goes by a change %v ago", time.Duration(idle))
			}
			return nil
		})
	}))
	came.Store(true)
	ended()
}

// A policy may refuse an extra task as it arrives. Nothing of the task is left.
func TestExtraTaskIsRefused(t *testing.T) {
	rt, came, ended := holderOnOneP(t)
	register(t, rt, Policy{Name: "refuses", On: OnEnqueue, Expr: `arriving.priority < 0 ? throw("unwanted") : continue()`})
	crowded(t, longtest.Count(4, 2))
	runtime.Gosched()
	rt.warmth.others.Store(100)
	rt.warmth.told.Store(notify.Now()) // it starts as an extra task, before the timer counts again
	var refused *PreemptedError
	if err := rt.Run(WithPriority(background, -1), "refused", idle); !errors.As(err, &refused) {
		t.Errorf("it ended with %v", err)
	}
	came.Store(true)
	ended()
	l := rt.Loop()
	l.lockAll()
	defer l.unlock()
	if a := &l.absent; a.extras+len(a.lent)+len(a.parked) != 0 || l.live != nil {
		t.Errorf("%d extra tasks, %d lent and %d parked ones are left", a.extras, len(a.lent), len(a.parked))
	}
}
