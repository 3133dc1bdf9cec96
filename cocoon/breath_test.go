package cocoon

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/kernel"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/safepoint"
)

// A task yields its core now and then. It reads the clock neither at each safe point nor too
// rarely. While the word is raised for another task, whose thread may be waiting for this core, the
// task reads the clock more often, and still yields.
func TestBreathByYielding(t *testing.T) {
	if !kernel.CanYield {
		t.Skip("this system has no call that gives the core away")
	}
	rt := start(t, Config{Slots: 1, Breath: time.Millisecond})
	for _, raised := range []bool{false, true} {
		must(t, rt.Run(background, "spin", func(ctx context.Context) error {
			if raised {
				safepoint.Raise()
				defer safepoint.Lower()
			}
			b := &TaskOf(ctx).strand.breath
			polls, looks, yields, last, looked := 0, 0, 0, b.last.Load(), b.looked
			for end := time.Now().Add(10 * time.Second); yields < 20 && time.Now().Before(end); polls++ {
				SafePoint(ctx)
				if b.last.Load() != last {
					last = b.last.Load()
					yields++
				}
				if b.looked != looked {
					looked = b.looked
					looks++
				}
			}
			if yields < 20 {
				t.Errorf("word raised: %v; %d yields in 10 s", raised, yields)
			}
			if !raised && looks > polls/2 {
				t.Errorf("it looks at the clock at %d of %d safe points", looks, polls)
			}
			return nil
		}))
	}
}

// A task that stands aside, such as a ticker's, has waited between its safe points and not run: it
// neither yields its core at each of them, nor counts as a task that runs long.
func TestNoBreathAside(t *testing.T) {
	rt := start(t, Config{Slots: 1, Breath: 100 * time.Microsecond})
	must(t, rt.LoadPolicies(strings.NewReader("version: 1\ntasks: {tick: waits}\n")))
	heatUp(t, rt)
	must(t, rt.Run(background, "tick", func(ctx context.Context) error {
		s := TaskOf(ctx).strand
		SafePoint(ctx)
		last := s.breath.last.Load()
		for range 30 {
			time.Sleep(time.Millisecond)
			SafePoint(ctx)
		}
		if !s.aside() {
			t.Error("it does not stand aside")
		}
		if s.breath.last.Load() != last || s.breath.ran != 0 {
			t.Error("it breathes as if it ran")
		}
		return nil
	}))
}

// The timer keeps waking for a task that runs long and passes no SafePoint, while the runtime is
// hot. It does not for a task that yields its core at safe points, nor for one that waits.
func TestBeat(t *testing.T) {
	if !kernel.CanYield {
		t.Skip("this system has no call that gives the core away")
	}
	rt := start(t, Config{Slots: 1, Breath: 100 * time.Microsecond})
	l := rt.Loop()
	beat := func(s *strand, after int64) (next int64) {
		l.lockAll()
		defer l.unlock()
		rt.needHeat(notify.Now())
		now := s.core.Since() + after
		if next = s.beat(now); next != notify.Never {
			next -= now
		}
		return next
	}
	heatUp(t, rt)
	const ms = int64(time.Millisecond)
	waiting, goOn := make(chan struct{}), make(chan struct{})
	var strand *strand
	h := rt.Go(background, "task", func(ctx context.Context) error {
		s := TaskOf(ctx).strand
		if next := beat(s, ms); next != heatAfter-ms {
			t.Errorf("it has run for a millisecond: the timer wakes after %v", time.Duration(next))
		}
		if next := beat(s, 10*ms); next != ms {
			t.Errorf("it has run for 10 ms: the timer wakes after %v; want 1ms", time.Duration(next))
		}
		s.breath.last.Store(s.core.Since() + 10*ms)
		if next := beat(s, 10*ms+ms/2); next != notify.Never {
			t.Errorf("it has just yielded its core: the timer wakes after %v", time.Duration(next))
		}
		strand = s
		close(waiting)
		<-goOn
		return nil
	})
	<-waiting
	eventually(t, "no beat for a task that waits", func() bool { return beat(strand, 20*ms) == notify.Never })
	close(goOn)
	must(t, h.Wait(background))
	rt = start(t, Config{Slots: 1, Breath: 100 * time.Microsecond}) // cold
	l = rt.Loop()
	must(t, rt.Run(background, "cold", func(ctx context.Context) error {
		s := TaskOf(ctx).strand
		l.lockAll()
		defer l.unlock()
		if next := s.beat(s.core.Since() + 10*ms); next != notify.Never && !rt.warmth.hot.Load() {
			t.Error("the timer wakes though the runtime is cold")
		}
		return nil
	}))
}

// A negative Breath turns the breath off: the task never yields its core, and the runtime asks the
// kernel for nothing.
func TestBreathOff(t *testing.T) {
	rt := start(t, Config{Slots: 1, Breath: -1})
	heatUp(t, rt)
	if rt.hasSlices() {
		t.Error("it has asked for short slices")
	}
	must(t, rt.Run(background, "spin", func(ctx context.Context) error {
		b := &TaskOf(ctx).strand.breath
		last := b.last.Load()
		for end := time.Now().Add(5 * time.Millisecond); time.Now().Before(end); {
			SafePoint(ctx)
		}
		if b.last.Load() != last {
			t.Error("it gave its core away")
		}
		return nil
	}))
}

// The kernel is asked for short slices while any runtime needs them, for existing and for new
// threads. After the last such runtime the slices are restored.
func TestBreathBySlices(t *testing.T) {
	short, err := New(Config{Slots: 1, Breath: 200 * time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	if heatUp(t, short); !short.hasSlices() {
		short.Shutdown(context.Background())
		t.Skip("this kernel gives threads no time slices of their own")
	}
	other, err := New(Config{Slots: 1, Breath: 400 * time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	heatUp(t, other)
	wantSlice(t, sliceOf(200*time.Microsecond))
	short.Shutdown(context.Background())
	wantSlice(t, sliceOf(200*time.Microsecond)) // not lengthened while other runtimes live
	other.Shutdown(context.Background())
	if got := ownSlice(t); got == sliceOf(200*time.Microsecond) {
		t.Errorf("after the last runtime the slice is still %v", got)
	}
}

// hasSlices reports whether the runtime has asked for short slices.
func (rt *Runtime) hasSlices() bool {
	rt.warmth.mu.Lock()
	defer rt.warmth.mu.Unlock()
	return rt.warmth.slices
}

// wantSlice waits until all threads have the slice. New threads get it some milliseconds later.
func wantSlice(t *testing.T, want time.Duration) {
	t.Helper()
	eventually(t, "the slices of other threads", func() bool {
		got := make(chan time.Duration)
		for range 4 { // locked at the same time, they need threads of their own
			go func() {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				got <- ownSlice(t)
			}()
		}
		all := true
		for range 4 {
			all = <-got == want && all
		}
		return all
	})
}
