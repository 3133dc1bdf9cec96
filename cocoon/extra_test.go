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
	"github.com/cocoon-go/cocoon/notify"
)

// saturate makes the runtime take the process for saturated, for the whole test, and until now with
// one task as all work. Called before the first task.
func saturate(rt *Runtime) {
	goroutine.Learn() // it uses a P
	rt.saturation = saturation{full: true, want: 1, tasks: 1, at: notify.Now(), since: notify.Now() + int64(time.Hour)}
	rt.warmth.full.Store(true)
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
	for range 10 {
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
	crowded(t, 4)
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

// In a process that is not saturated, a goroutine that takes the P from the holder of a slot makes no
// extra task.
func TestNoExtraTaskUnlessSaturated(t *testing.T) {
	rt, came, ended := holderOnOneP(t)
	rt.warmth.full.Store(false)
	crowded(t, 4)
	runtime.Gosched()
	l := rt.Loop()
	l.lockAll()
	defer func() { l.unlock(); came.Store(true); ended() }()
	rt.warmth.others.Store(100)
	rt.warmth.told.Store(notify.Now())
	now := notify.Now() + soonRuns
	if l.lackingP(now) != 1 || l.startExtras(now) {
		t.Errorf("%d holders have no P, and an extra task started", l.lackingP(now))
	}
}

// A policy may refuse an extra task as it arrives. Nothing of the task is left.
func TestExtraTaskIsRefused(t *testing.T) {
	rt, came, ended := holderOnOneP(t)
	register(t, rt, Policy{Name: "refuses", On: OnEnqueue, Expr: `arriving.priority < 0 ? throw("unwanted") : continue()`})
	crowded(t, 4)
	runtime.Gosched()
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
