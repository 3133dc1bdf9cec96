package cocoon

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
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
// or back from a wait and without a processor, shows the opposite.
func TestStrainLooks(t *testing.T) {
	const run, ready, wait = goroutine.Running, goroutine.Ready, goroutine.Waiting
	for _, c := range []struct {
		found []goroutine.Status
		long  bool
	}{
		{[]goroutine.Status{run, run}, false},
		{[]goroutine.Status{run, run, run}, true},
		{[]goroutine.Status{goroutine.Unknown, run, run}, true}, // its stack was scanned
		{[]goroutine.Status{run, run, wait, run, run}, false},
		{[]goroutine.Status{ready, ready, ready, ready}, false},
		{[]goroutine.Status{run, run, ready, run, run}, false},
		{[]goroutine.Status{goroutine.Runnable, run, goroutine.Runnable}, true}, // the timer has its P
	} {
		st, long := strain{last: -strainGap}, false
		for i, found := range c.found {
			long = st.note(found, int64(i)*strainGap)
		}
		if long != c.long {
			t.Errorf("%v: long %v", c.found, long)
		}
	}
}
