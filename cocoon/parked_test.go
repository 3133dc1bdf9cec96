package cocoon

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
)

// waiting starts a task that waits unannounced in its slot until the channel is closed. It returns
// when the task's goroutine waits.
func waiting(t *testing.T, l *Loop, name string, until <-chan struct{}) *Handle {
	t.Helper()
	goroutine.Learn()
	if goroutine.StatusOf(goroutine.ID()) == goroutine.Unknown {
		t.Skip("the status of goroutines is not to be had here")
	}
	var g atomic.Uintptr
	h := l.Go(background, name, func(context.Context) error {
		g.Store(goroutine.ID())
		<-until
		return nil
	})
	eventually(t, name+" to wait", func() bool { return g.Load() != 0 && goroutine.StatusOf(g.Load()) == goroutine.Waiting })
	return h
}

// A task that waits unannounced does not delay another task: its slot is lent when the other
// arrives, and this is not a stall. StallAfter is off, so nothing else can lend it.
func TestUnannouncedWaitLendsTheSlot(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	release := make(chan struct{})
	h := waiting(t, rt.Loop(), "waits", release)
	for range 3 {
		within(t, "a task beside it", func() { must(t, rt.Run(background, "job", idle)) })
	}
	st := rt.Loop().Stats()
	if st.Parked != 1 || st.Waits != 1 || st.Stalls != 0 || st.Busy != 0 {
		t.Errorf("%+v", st)
	}
	close(release)
	must(t, h.Wait(background))
	if a := h.Account(); a.Blocked == 0 {
		t.Errorf("%+v; want its wait as blocked", a)
	}
}

// The task that needs the slot may have had one before, and come back from a block.
func TestUnannouncedWaitLendsToAReturningTask(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	inBlock, goOn, release := make(chan struct{}), make(chan struct{}), make(chan struct{})
	back := rt.Go(background, "back", func(ctx context.Context) error {
		return Block(ctx, func() error { close(inBlock); <-goOn; return nil })
	})
	receive(t, "the block", inBlock)
	h := waiting(t, rt.Loop(), "waits", release)
	close(goOn)
	within(t, "the task that comes back", func() { must(t, back.Wait(background)) })
	close(release)
	must(t, h.Wait(background))
}

// The timer finds a holder that waits after another task has begun to wait.
func TestUnannouncedWaitIsFoundLater(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	running, park, release := make(chan struct{}), make(chan struct{}), make(chan struct{})
	h := rt.Go(background, "waits", func(context.Context) error {
		close(running)
		must(t, keepSlot(park))
		<-release
		return nil
	})
	receive(t, "the holder", running)
	other := rt.Go(background, "job", idle)
	eventually(t, "the other to wait", func() bool { return rt.Loop().Stats().Queued == 1 })
	close(park)
	within(t, "the other", func() { must(t, other.Wait(background)) })
	close(release)
	must(t, h.Wait(background))
}

// A task in a long system call gives its slot up as well.
func TestSystemCallLendsTheSlot(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	goroutine.Learn()
	r, w, err := os.Pipe()
	must(t, err)
	fd := int(r.Fd()) // the pipe blocks from now on
	in := make(chan struct{})
	h := rt.Go(background, "reads", func(context.Context) error {
		close(in)
		return readByte(fd)
	})
	receive(t, "the reader", in)
	within(t, "a task beside it", func() { must(t, rt.Run(background, "job", idle)) })
	must(t, w.Close())
	must(t, h.Wait(background))
	must(t, r.Close())
}

// After its wait a task runs on, and waits for a slot at its next safe point. So in the end no more
// tasks run than there are slots.
func TestParkedTaskAsksForASlot(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	release, until := make(chan struct{}), make(chan struct{})
	var back atomic.Bool
	goroutine.Learn()
	parked := make(chan struct{})
	h := rt.Go(background, "waits", func(ctx context.Context) error {
		close(parked)
		<-release
		SafePoint(ctx)
		for !closed(until) {
			SafePoint(ctx)
		}
		back.Store(true)
		return nil
	})
	receive(t, "it", parked)
	busy := begun(t, rt.Loop(), background, "busy", func(context.Context) error { return keepSlot(until) })
	rt.Go(background, "more", idle) // a task waits, so the timer looks
	close(release)
	eventually(t, "it to ask for a slot", func() bool { st := rt.Loop().Stats(); return st.Queued == 2 && st.Parked+st.Lent == 0 })
	if back.Load() {
		t.Error("it ran on while the slot was another's")
	}
	close(until)
	must(t, busy.Wait(background))
	must(t, h.Wait(background))
}

// A section opened after an unannounced wait has its whole time limit, and no more.
func TestSectionAfterAnUnannouncedWait(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "s", Limit: 20 * time.Millisecond})
	must(t, err)
	release := make(chan struct{})
	goroutine.Learn()
	parked := make(chan struct{})
	var begin, end time.Time
	h := rt.Go(background, "waits", func(ctx context.Context) error {
		close(parked)
		<-release
		begin = time.Now()
		err := inSection(ctx, "s", func() error { return spinForever(ctx) })
		end = time.Now()
		preemption(t, err)
		return nil
	})
	receive(t, "it", parked)
	for rt.Loop().Stats().Parked == 0 {
		must(t, rt.Run(background, "job", idle))
	}
	time.Sleep(100 * time.Millisecond) // counts as blocked, not as running
	close(release)
	must(t, h.Wait(background))
	if d := end.Sub(begin); d < 20*time.Millisecond {
		t.Errorf("thrown after %v of 20ms", d)
	}
	if a := h.Account(); a.Blocked < 100*time.Millisecond {
		t.Errorf("%+v", a)
	}
}

// A throw ends the context of a task in an unannounced wait, and arrives when the task runs again.
func TestThrowIntoAParkedTask(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	goroutine.Learn()
	parked := make(chan struct{})
	h := rt.Go(background, "waits", func(ctx context.Context) error {
		close(parked)
		<-ctx.Done()
		return spinForever(ctx)
	})
	receive(t, "it", parked)
	for rt.Loop().Stats().Parked == 0 {
		must(t, rt.Run(background, "job", idle))
	}
	h.Cancel()
	within(t, "the cancelled task", func() { preemption(t, h.Wait(background)) })
}

// Exclusive loops keep their slots; so does a loop of NewLoop with one slot, until StallAfter.
func TestAtomicLoopsKeepTheirSlots(t *testing.T) {
	t.Parallel() // most of its time is a wait
	rt := start(t, Config{Slots: 1, StallAfter: 20 * time.Millisecond})
	for _, c := range []struct {
		cfg   LoopConfig
		lends bool
	}{
		{LoopConfig{Name: "exclusive", Slots: 2, Exclusive: true}, false},
		{LoopConfig{Name: "one"}, true},
		{LoopConfig{Name: "two", Slots: 2}, true},
	} {
		l, err := rt.NewLoop(c.cfg)
		must(t, err)
		release := make(chan struct{})
		var hs []*Handle
		for range len(l.slots) {
			hs = append(hs, waiting(t, l, "waits", release))
		}
		begin := time.Now()
		ctx, cancel := context.WithTimeout(background, 200*time.Millisecond)
		err = l.Run(ctx, "job", idle)
		took := time.Since(begin)
		cancel()
		switch {
		case c.lends != (err == nil):
			t.Errorf("loop %s: a task beside those that wait: %v", l.Name(), err)
		case l.cfg.Name == "one" && took < 10*time.Millisecond:
			t.Errorf("loop %s lent its slot after %v", l.Name(), took)
		}
		close(release)
		for _, h := range hs {
			must(t, h.Wait(background))
		}
	}
}

// The log names a class if most looks find its tasks waiting, once and without a stack.
func TestUnannouncedWaitsAreLoggedOnce(t *testing.T) {
	var log journal
	rt := start(t, Config{Slots: 1, Logger: log.logger()})
	release := make(chan struct{})
	var all sync.WaitGroup
	for range 50 {
		h := waiting(t, rt.Loop(), "sleeper", release)
		all.Go(func() { must(t, h.Wait(background)) })
	}
	eventually(t, "the log line", func() bool { return log.count("wait unannounced") > 0 })
	close(release)
	all.Wait()
	if n := log.count("wait unannounced"); n != 1 {
		t.Errorf("%d lines:\n%s", n, log.String())
	}
	if s := log.String(); !strings.Contains(s, "task=sleeper") || strings.Contains(s, "stack=") || strings.Contains(s, "safe point") {
		t.Errorf("the log says\n%s", s)
	}
	st := rt.Loop().Stats()
	if st.Stalls != 0 || st.Waits == 0 {
		t.Errorf("%d stalls, %d waits", st.Stalls, st.Waits)
	}
	must(t, rt.Run(background, "other", idle))
	if n, other := rt.classOf("sleeper").lent.Load(), rt.classOf("other").lent.Load(); n != st.Waits || other != 0 {
		t.Errorf("%d waits of sleeper, %d of other; want %d and none", n, other, st.Waits)
	}
}

// A runtime shuts down as usual when all its tasks wait unannounced.
func TestShutdownWithParkedTasks(t *testing.T) {
	shorter(t, &shutdownGrace)
	rt, err := New(Config{Slots: 1})
	must(t, err)
	never := make(chan struct{})
	h := waiting(t, rt.Loop(), "waits", never)
	must(t, rt.Run(background, "job", idle))
	ctx, cancel := context.WithTimeout(background, time.Millisecond)
	defer cancel()
	if err := rt.Shutdown(ctx); err == nil || !strings.Contains(err.Error(), "waits") {
		t.Errorf("shutdown: %v; want the task that waits", err)
	}
	close(never)
	_ = h.Wait(background)
}

// A class declared waiting in a document stands aside: its tasks hold no slot, and their Blocks ask
// for none. If one runs nevertheless, the timer finds it, and its time limit throws into it.
func TestWaitsStandAside(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	must(t, rt.LoadPolicies(strings.NewReader("version: 1\ntasks: {stream: waits}\nlimits: [{func: stream, limit: 20ms}]\n")))
	begin := time.Now()
	err := rt.Run(background, "stream", func(ctx context.Context) error {
		for range 3 {
			must(t, Block(ctx, func() error { return nil }))
			if st := rt.Loop().Stats(); st.Busy != 0 || st.Parked != 1 {
				t.Errorf("%d slots busy, %d parked", st.Busy, st.Parked)
			}
			within(t, "a task beside it", func() { must(t, rt.Run(background, "job", idle)) })
		}
		begin = time.Now()
		return spinForever(ctx)
	})
	preemption(t, err)
	if d := time.Since(begin); d < 20*time.Millisecond {
		t.Errorf("thrown after %v of 20ms", d)
	}
}

// A class stands aside undeclared if most looks find its tasks waiting, and later running is found.
func TestWaitsAreLearned(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	release := make(chan struct{})
	var hs []*Handle
	for range fewLooks + 2 {
		hs = append(hs, waiting(t, rt.Loop(), "stream", release))
	}
	must(t, rt.Run(background, "stream", func(context.Context) error {
		if st := rt.Loop().Stats(); st.Busy != 0 {
			t.Errorf("%d slots busy; want the class to stand aside", st.Busy)
		}
		return nil
	}))
	close(release)
	for _, h := range hs {
		must(t, h.Wait(background))
	}
}

// A full queue refuses no task while a holder of a slot only waits: its slot makes room.
func TestUnannouncedWaitMakesRoomInTheQueue(t *testing.T) {
	rt := start(t, Config{Slots: 1, MaxQueue: 1, StallAfter: -1})
	running, park, release := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var g atomic.Uintptr
	goroutine.Learn()
	h := rt.Go(background, "waits", func(context.Context) error {
		g.Store(goroutine.ID())
		close(running)
		must(t, keepSlot(park))
		<-release
		return nil
	})
	receive(t, "the holder", running)
	first := rt.Go(background, "first", idle)
	eventually(t, "the first to wait", func() bool { return rt.Loop().Stats().Queued == 1 })
	rt.Loop().lock() // the timer must not be first
	close(park)
	eventually(t, "the holder to wait", func() bool { return goroutine.StatusOf(g.Load()) == goroutine.Waiting })
	second := rt.Go(background, "second", idle)
	eventually(t, "the second to arrive", func() bool {
		s := second.task.strand
		return goroutine.StatusOf(s.g.Load()) == goroutine.Waiting // it waits for the loop's lock
	})
	rt.Loop().unlock()
	must(t, second.Wait(background))
	must(t, first.Wait(background))
	close(release)
	must(t, h.Wait(background))
}

// The utilization of a loop of sleeping tasks is low, whether or not other tasks need their slots.
func TestSleepersAreNoLoad(t *testing.T) {
	t.Parallel() // most of its time is a wait
	for _, n := range []int{2, 8} {
		rt := start(t, Config{Slots: 2})
		goroutine.Learn()
		stop := make(chan struct{})
		var all sync.WaitGroup
		for range n {
			all.Go(func() {
				for !closed(stop) {
					must(t, rt.Run(background, "sleeps", func(context.Context) error { time.Sleep(5 * time.Millisecond); return nil }))
				}
			})
		}
		eventually(t, "a low utilization", func() bool {
			time.Sleep(20 * time.Millisecond)
			return rt.Loop().Stats().Utilization < 0.3
		})
		var seen []float64
		for range 11 {
			time.Sleep(20 * time.Millisecond)
			seen = append(seen, rt.Loop().Stats().Utilization)
		}
		slices.Sort(seen) // some are high if other processes take the cores, and tasks wake late
		if u := seen[len(seen)/2]; u > 0.6 {
			t.Errorf("%d tasks that sleep: the median of the utilization is %.2f", n, u)
		}
		close(stop)
		all.Wait()
	}
}
