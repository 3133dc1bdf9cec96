package cocoon

import (
	"context"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/notify"
)

// Invariant 8: a task that holds its slot without a safe point does not delay other tasks. The slot
// is lent to the waiting task, the stall is reported with the task's stack, and the task waits for
// a slot when it comes back.
func TestStallLendsTheSlot(t *testing.T) {
	shorter(t, &comesBack)
	for end := time.Now().Add(patience); !stallLendsTheSlot(t); {
		if time.Now().After(end) {
			t.Fatal("whenever the timer looked, the staller had no processor")
		}
	}
}

// stallLendsTheSlot reports false if the machine was so busy that the staller had no processor when
// the timer looked, and its slot was lent without a report, or that the same
// happened to the other task.
func stallLendsTheSlot(t *testing.T) (reported bool) {
	var log journal
	rt := start(t, Config{Slots: 1, StallAfter: 5 * time.Millisecond, Logger: log.logger()})
	l := oneSlot(t, rt)
	var other, early atomic.Bool // the other task runs; the staller came back meanwhile
	running, back := make(chan struct{}), make(chan struct{})
	h := l.Go(background, "staller", func(ctx context.Context) error {
		close(running)
		// It ends only because the other task runs.
		silently := sync.OnceValue(func() bool { return l.Stats().Stalls == 0 })
		if err := stall(func() bool {
			return other.Load() && (log.count("passing a safe point") > 0 || silently())
		}); err != nil {
			return err
		}
		close(back)
		for end := time.Now().Add(patience); l.Stats().Lent > 0 && time.Now().Before(end); {
			SafePoint(ctx)
		}
		early.Store(other.Load())
		return nil
	})
	receive(t, "the staller", running)
	within(t, "the task that waits", func() {
		must(t, l.Run(background, "waiter", func(ctx context.Context) error {
			other.Store(true)
			must(t, keepSlot(back))
			eventually(t, "the staller to wait", func() bool {
				SafePoint(ctx) // otherwise this one stalls, too
				return l.Stats().Queued == 1 || early.Load()
			})
			other.Store(false)
			return nil
		}))
	})
	must(t, h.Wait(background))
	rt.log.flush()
	st := l.Stats()
	if st.Stalls == 0 && log.count("had no processor") > 0 || early.Load() && (st.Stalls > 1 || log.count("had no processor") > 0) {
		return false
	}
	if early.Load() {
		t.Error("the staller came back while the other had the only slot")
	}
	if st.Stalls < 1 || st.Lent != 0 {
		t.Errorf("%d stalls, %d lent", st.Stalls, st.Lent)
	}
	for _, want := range []string{"task=staller", "loop=one", "stallLendsTheSlot", "stall("} {
		if log.count(want) == 0 {
			t.Errorf("the report does not name %q:\n%s", want, log.String())
		}
	}
	return true
}

// A task whose slot was lent comes back even if a throw was the first request that reached it.
func TestStallerComesBackAfterAThrow(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: 5 * time.Millisecond})
	signal := throwOnSignal(t, rt, "staller")
	var lent atomic.Bool
	running, done := make(chan struct{}), make(chan struct{})
	h := rt.Go(background, "staller", func(ctx context.Context) error {
		preemption(t, inSection(ctx, "s", func() error {
			close(running)
			if err := stall(lent.Load); err != nil {
				return err
			}
			return spinForever(ctx)
		}))
		for end := time.Now().Add(patience); time.Now().Before(end); {
			SafePoint(ctx)
			if closed(done) {
				return nil
			}
		}
		t.Error("the staller never waited for a slot")
		return nil
	})
	receive(t, "the staller", running)
	within(t, "the task that waits", func() {
		must(t, rt.Run(background, "waiter", func(ctx context.Context) error {
			signal()
			lent.Store(true)
			eventually(t, "the staller to wait", func() bool {
				SafePoint(ctx) // otherwise this one stalls, too
				st := rt.Loop().Stats()
				return st.Lent == 0 && st.Queued == 1
			})
			close(done)
			return nil
		}))
	})
	must(t, h.Wait(background))
}

// A task that waits unannounced delays no other task: tasks that arrive meanwhile also end
// meanwhile.
func TestBlockWithoutSayingSo(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	release := make(chan struct{})
	var begin time.Time
	h := begun(t, rt.Loop(), background, "waits", func(context.Context) error { <-release; return nil })
	within(t, "the tasks", func() {
		for range 100 {
			must(t, rt.Run(background, "job", idle))
			if begin.IsZero() {
				begin = time.Now() // its slot is lent
			}
		}
	})
	waited := time.Since(begin)
	close(release)
	must(t, h.Wait(background))
	if st := rt.Loop().Stats(); st.Stalls != 0 || st.Waits < 1 || st.Lent+st.Parked != 0 || h.Account().Blocked < waited/2 {
		t.Errorf("%d stalls, %d waits, %d lent, %d parked, %+v", st.Stalls, st.Waits, st.Lent, st.Parked, h.Account())
	}
}

// In whatever way a task comes back, it finds a slot again, and never gets two (invariant 5).
func TestStallerComesBackByAnyWay(t *testing.T) {
	for name, come := range map[string]func(rt *Runtime, ctx context.Context){
		"end":    func(*Runtime, context.Context) {},
		"goexit": func(*Runtime, context.Context) { runtime.Goexit() },
		"panic":  func(*Runtime, context.Context) { panic("x") },
		"yield":  func(_ *Runtime, ctx context.Context) { Yield(ctx) },
		"block":  func(_ *Runtime, ctx context.Context) { Block(ctx, func() error { return nil }) },
		"cancel": func(_ *Runtime, ctx context.Context) { TaskOf(ctx).Cancel(); spinForever(ctx) },
		"run":    func(rt *Runtime, ctx context.Context) { rt.Run(ctx, "in", func(context.Context) error { return nil }) },
		"orphan": func(rt *Runtime, _ context.Context) {
			rt.Run(background, "in", func(context.Context) error { return nil })
		},
		"section": func(_ *Runtime, ctx context.Context) {
			inSection(ctx, "s", func() error { SafePoint(ctx); return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 1, MaxStarted: 3, StallAfter: time.Millisecond})
			var lent atomic.Bool
			running := make(chan struct{})
			h := rt.Go(background, "staller", func(ctx context.Context) error {
				close(running)
				if err := stall(lent.Load); err != nil {
					t.Error(err)
				}
				come(rt, ctx)
				return nil
			})
			receive(t, "the staller", running)
			within(t, "the others", func() {
				must(t, rt.Run(background, "waiter", func(ctx context.Context) error { lent.Store(true); return nil }))
				h.Wait(background)
			})
			checkFree(t, rt)
		})
	}
}

// Tasks that stall one after the other are passed one after the other, also when they wait for
// their second slot.
func TestStallsInARow(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: time.Millisecond})
	const tasks = 5
	var blocked, running atomic.Int32
	gate := make(chan struct{})
	var handles []*Handle
	for range tasks {
		handles = append(handles, rt.Go(background, "staller", func(ctx context.Context) error {
			Block(ctx, func() error { blocked.Add(1); <-gate; return nil })
			running.Add(1)
			return stall(func() bool { return running.Load() == tasks })
		}))
	}
	eventually(t, "all to block", func() bool { return blocked.Load() == tasks })
	eventually(t, "the timer to rest", func() bool {
		rt.Loop().lock()
		defer rt.Loop().unlock()
		return !rt.Loop().contended
	})
	close(gate)
	for _, h := range handles {
		must(t, h.Wait(background))
	}
}

// Invariant 8 for a suspended task: it does not wait for a safe task that stalls.
func TestStallDoesNotHoldBackASuspendedTask(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: 5 * time.Millisecond})
	must(t, rt.RegisterPreemptibleFunc("scan"))
	must(t, rt.RegisterSafeFunc("get"))
	_, err := rt.RegisterDefaultPreemption(OnEnqueue)
	must(t, err)
	var getting, resumed atomic.Bool
	running := make(chan struct{})
	scan := rt.Go(background, "scan", func(ctx context.Context) error {
		close(running)
		for end := time.Now().Add(patience); !getting.Load(); {
			if SafePoint(ctx); time.Now().After(end) {
				t.Error("the get did not start")
				break
			}
		}
		resumed.Store(true)
		return nil
	})
	receive(t, "the scan", running)
	must(t, rt.Run(background, "get", func(context.Context) error {
		getting.Store(true)
		return stall(resumed.Load)
	}))
	must(t, scan.Wait(background))
}

// The tasks of an exclusive loop stay atomic towards each other even when one stalls.
func TestExclusiveLoopNeverLends(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: time.Millisecond})
	l, err := rt.NewLoop(LoopConfig{Name: "exclusive", Exclusive: true})
	must(t, err)
	release := taken(t, l)
	h := l.Go(background, "waiter", func(context.Context) error { return nil })
	for end := time.Now().Add(100 * time.Millisecond); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if st := l.Stats(); st.Lent != 0 || st.Stalls != 0 || st.Ended != 0 {
			t.Fatalf("%+v", st)
		}
	}
	release()
	must(t, h.Wait(background))
}

// A task that passes safe points does not stall, however long other tasks wait: it responds to the
// probes, and keeps its slot.
func TestPollingTaskIsNotAStaller(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: time.Duration(longtest.Count(400, 200)) * time.Millisecond}) // longer than a busy machine stops a thread
	running, done := make(chan struct{}), make(chan struct{})
	h := rt.Go(background, "long", func(ctx context.Context) error {
		close(running)
		spin(ctx, done)
		return nil
	})
	receive(t, "the long one", running)
	w := rt.Go(background, "waiter", idle)
	eventually(t, "probes", func() bool { return h.Account().SafePoints > 2 || closed(w.Done()) })
	if n := rt.Loop().Stats().Stalls; n != 0 {
		t.Errorf("%d stalls", n)
	}
	close(done)
	must(t, h.Wait(background))
	must(t, w.Wait(background))
}

// While no task waits, a task may hold its slot as long as it likes, and the timer rests.
func TestNoStallWhileNoTaskWaits(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: time.Millisecond})
	must(t, rt.Run(background, "long", func(context.Context) error {
		time.Sleep(50 * time.Millisecond)
		return nil
	}))
	if n := rt.Loop().Stats().Stalls; n != 0 {
		t.Errorf("%d stalls", n)
	}
}

// A slot may be lent between a yield's safe point and the yield itself. The task must not end up
// with two slots then (invariant 5).
func TestYieldOfATaskJustLent(t *testing.T) {
	rt := start(t, Config{Slots: 2, StallAfter: -1})
	l := rt.Loop()
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		s := TaskOf(ctx).strand
		l.lockAll()
		l.lend(s, notify.Now())
		l.unlock()
		s.passOn()
		SafePoint(ctx)
		if st := l.Stats(); st.Lent != 0 || st.Busy != 1 {
			t.Errorf("%+v", st)
		}
		return nil
	}))
}

// A task whose slot was lent keeps the timer no busier than any other: it is looked at again after
// minSweep, and more seldom from then on.
func TestLentTaskIsLookedAtSeldom(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: 5 * time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
	limit(t, rt, "staller")
	running, done := make(chan struct{}), make(chan struct{})
	h := rt.Go(background, "staller", func(context.Context) error {
		close(running)
		return stall(func() bool { return closed(done) })
	})
	receive(t, "the staller", running)
	must(t, rt.Run(background, "waiter", idle))
	l := rt.Loop()
	l.lockAll()
	if len(l.absent.lent) != 1 {
		t.Errorf("%d tasks are lent", len(l.absent.lent))
	}
	now := max(notify.Now(), l.sweepAt)
	l.movedAt = now
	for range 100 {
		next := l.sweep(now)
		if next < now+minSweep {
			t.Fatalf("the next look is %v later", time.Duration(next-now))
		}
		now = next
	}
	if least := int64(5 * time.Second); now < l.movedAt+least {
		t.Errorf("100 looks in %v; want them to become rarer", time.Duration(now-l.movedAt))
	}
	l.unlock()
	close(done)
	must(t, h.Wait(background))
}

// A holder that gets no processor, because more goroutines want one than there are, does not hold
// back a task that waits for its slot, and is not blamed. With one processor, the holder has none
// whenever the timer looks.
func TestStarvedHolderLendsTheSlot(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	rt := start(t, Config{Slots: 1, StallAfter: 5 * time.Millisecond, KeepProcs: true, Logger: slog.New(slog.DiscardHandler)})
	goroutine.Learn()
	var over atomic.Bool
	var crowd sync.WaitGroup
	defer crowd.Wait()
	defer over.Store(true)
	for range 2 {
		crowd.Go(func() { busy(1, &over) })
	}
	for _, l := range []*Loop{rt.Loop(), newLoopOf(t, rt, "one at a time", 1)} {
		var came atomic.Bool
		running := make(chan struct{})
		h := l.Go(background, "holder", func(context.Context) error {
			close(running)
			for end := time.Now().Add(patience); time.Now().Before(end) && !came.Load(); {
			}
			if !came.Load() {
				t.Errorf("%s: the waiting task did not come while the holder ran", l.Name())
			}
			return nil
		})
		receive(t, "the holder", running)
		must(t, l.Run(background, "waiter", func(context.Context) error { came.Store(true); return nil }))
		must(t, h.Wait(background))
		if st := l.Stats(); st.Stalls != 0 {
			t.Errorf("%s: %d stalls", l.Name(), st.Stalls)
		}
	}
}
