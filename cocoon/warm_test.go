package cocoon

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/notify"
)

// heatUp makes the runtime hot.
func heatUp(t testing.TB, rt *Runtime) {
	t.Helper()
	eventually(t, "hot", func() bool { rt.needHeat(notify.Now()); return rt.warmth.hot.Load() })
}

// A runtime is cold until a task runs long, as detected at its safe points, and cold again a second
// after the last long task. While it is cold GOMAXPROCS is the application's.
func TestHotWhileATaskRunsLong(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	rt := start(t, Config{Slots: before})
	for range 1000 {
		must(t, rt.Run(background, "short", func(ctx context.Context) error { SafePoint(ctx); return nil }))
	}
	if rt.warmth.hot.Load() || runtime.GOMAXPROCS(0) != before {
		t.Fatalf("with short tasks: hot is %v, GOMAXPROCS %d; want %d", rt.warmth.hot.Load(), runtime.GOMAXPROCS(0), before)
	}
	must(t, rt.Run(background, "long", func(ctx context.Context) error {
		for end := time.Now().Add(patience); !rt.warmth.hot.Load(); SafePoint(ctx) {
			if time.Now().After(end) {
				t.Fatal("it is cold, though a task runs long")
			}
		}
		return nil
	}))
	if n := runtime.GOMAXPROCS(0); n != before+SparePs {
		t.Errorf("hot, GOMAXPROCS is %d; want %d", n, before+SparePs)
	}
	if w := &rt.warmth; longtest.Off() { // a part of the second is enough
		w.mu.Lock()
		w.heat.stay /= 5
		w.mu.Unlock()
		rt.temper()
	}
	eventually(t, "cold again", func() bool { return !rt.warmth.hot.Load() })
	eventually(t, "GOMAXPROCS as before", func() bool { return runtime.GOMAXPROCS(0) == before })
}

// A task without a safe point makes the runtime hot when another task waits for its slot.
func TestHotWhileATaskWaitsForALongOne(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	h := rt.Go(background, "long", func(ctx context.Context) error {
		for end := time.Now().Add(patience); !rt.warmth.hot.Load(); {
			if time.Now().After(end) {
				t.Fatal("it is cold, though a task waits for a long one")
			}
		}
		return nil
	})
	for !h.Task().ended() {
		time.Sleep(2 * time.Millisecond)
		must(t, rt.Run(background, "short", idle))
	}
	must(t, h.Wait(background))
}

// A policy with an interval finer than Go's timers makes it hot, too, while a task runs. With no
// task, or with a coarser interval, it stays cold.
func TestHotForFineTicks(t *testing.T) {
	goroutine.Learn() // otherwise the task counts as running
	for interval, want := range map[time.Duration]bool{100 * time.Microsecond: true, 5 * time.Millisecond: false} {
		rt := start(t, Config{Slots: 1, StallAfter: -1})
		_, err := rt.RegisterPolicy(Policy{Name: "p", On: Every(interval), Expr: `queue.length > 1000 ? throw("x") : continue()`})
		must(t, err)
		must(t, rt.Run(background, "waits", func(context.Context) error {
			// It sleeps, because a running task makes the runtime hot.
			for end := time.Now().Add(patience); rt.Stats().Policies["p"].Evaluations <= 10 && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
			if want {
				eventually(t, "hot", rt.warmth.hot.Load)
			}
			return nil
		}))
		if !want && rt.warmth.hot.Load() {
			t.Errorf("%v makes it hot", interval)
		}
	}
}

// Shutdown makes a hot runtime cold, and later events do not heat it.
func TestShutdownIsCold(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	rt, err := New(Config{Slots: before})
	must(t, err)
	heatUp(t, rt)
	must(t, rt.Shutdown(background))
	for range 100 {
		rt.needHeat(notify.Now())
		runtime.Gosched()
	}
	if n := runtime.GOMAXPROCS(0); n != before || rt.warmth.hot.Load() {
		t.Errorf("GOMAXPROCS is %d; want %d", n, before)
	}
}

// Three looks in a row that find a task running show that it runs long. One that finds it waiting,
// or back from a wait and without a processor, shows the opposite. One that finds that it has had no
// processor since the last look shows nothing.
func TestStrainLooks(t *testing.T) {
	type look struct {
		found  goroutine.Status
		leaves uint8
	}
	run, ready, wait := look{goroutine.Running, 0}, look{goroutine.Ready, 0}, look{goroutine.Waiting, 0}
	lost := func(leaves uint8) look { return look{goroutine.Runnable, leaves} }
	for _, c := range []struct {
		looks []look
		long  bool
	}{
		{[]look{run, run}, false},
		{[]look{run, run, run}, true},
		{[]look{{goroutine.Unknown, 0}, run, run}, true}, // its stack was scanned
		{[]look{run, run, wait, run, run}, false},
		{[]look{ready, ready, ready, ready}, false},
		{[]look{run, run, ready, run, run}, false},
		{[]look{lost(1), run, lost(1)}, true},
		{[]look{lost(1), lost(2), lost(3)}, true}, // the timer has its P
		{[]look{run, lost(1), lost(1), lost(1)}, false},
		{[]look{run, lost(1), lost(1), run}, true},
	} {
		st, long := strain{last: -strainGap}, false
		for i, l := range c.looks {
			long = st.note(l.found, l.leaves, true, int64(i)*strainGap)
		}
		if long != c.long {
			t.Errorf("%v: long %v", c.looks, long)
		}
	}
	st := strain{last: -strainGap}
	for i := range int64(strainTimes) {
		if long := st.note(goroutine.Runnable, 0, false, i*strainGap); long != (i == strainTimes-1) {
			t.Errorf("look %d, where nothing tells whether it has run: long %v", i, long)
		}
	}
}

// A task that keeps its slot in Blocks, such as the messages of a stream, does not run long.
func TestNoStrainInBlocks(t *testing.T) {
	for _, blocks := range []bool{false, true} {
		rt := start(t, Config{Slots: 1, StallAfter: time.Hour})
		must(t, rt.Run(background, "runs", func(ctx context.Context) error {
			s, l := strandOf(ctx), rt.Loop()
			l.lockAll()
			from := s.core.Since() + heatAfter
			l.unlock()
			for i := range int64(2 * strainTimes) {
				if blocks {
					must(t, Block(ctx, func() error { return nil }))
				}
				l.lock()
				rt.heatFor(s, from+i*strainGap)
				l.unlock()
			}
			if times := s.checks.strain.times; times >= strainTimes == blocks {
				t.Errorf("Blocks %v: %d looks in a row have found it running", blocks, times)
			}
			return nil
		}))
	}
}
