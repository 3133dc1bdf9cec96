package cocoon

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/kernel"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/notify"
)

// A task that gets its slot while another goroutine has the only processor has not run until it has
// the processor: neither of two tasks that each run for 20 µs between Blocks of 400 µs.
func TestSlotBeforeProcessor(t *testing.T) {
	withProcs(t, 1)
	rt := start(t, Config{Slots: 1, QuietThrows: true})
	const limit = 40 * time.Millisecond
	pieces := longtest.Count(300, 150)
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "pieces", Limit: limit})
	must(t, err)
	piece := perMillisecond() / 50
	piecewise := func(ctx context.Context) error {
		for range pieces {
			if err := Block(ctx, func() error { sink.Add(count(20 * piece)); return nil }); err != nil {
				return err
			}
			sink.Add(count(piece))
		}
		return nil
	}
	one, other := rt.Go(background, "pieces", piecewise), rt.Go(background, "pieces", piecewise)
	for _, h := range []*Handle{one, other} {
		if err := h.Wait(background); err != nil {
			t.Errorf("a limit of %v threw into a task that runs for 6 ms: %v", limit, err)
		}
	}
}

// While threads lack cores, all running of a task with a short lead is measured by its thread's
// time: from its start, after each Block, after nested tasks, and when it has lost its P.
func TestShortLeadIsMeasured(t *testing.T) {
	goroutine.Learn()
	if !kernel.ThreadTells || !goroutine.CanTell() {
		t.Skip("the system does not tell a thread's processor time, or the status of goroutines")
	}
	for limit, measures := range map[string]bool{"20ms": true, "80ms": false} {
		var wrong []string
		for range 5 { // a goroutine that loses its P just then leaves its stretch
			if wrong = measuredWrongly(t, limit, measures); len(wrong) == 0 {
				break
			}
		}
		if len(wrong) > 0 {
			t.Errorf("a limit of %s: measured: %t %q", limit, !measures, wrong)
		}
	}
}

// measuredWrongly returns when two tasks under the limit are measured, or not measured, in their
// first moments against expectation.
func measuredWrongly(t *testing.T, limit string, measures bool) (when []string) {
	rt := start(t, Config{Slots: 1, Breath: -1})
	lacks := func() { rt.cpu.lacked(leastLack, notify.Now()) }
	lacks()
	must(t, newPolicyFile(t).load(t, rt, "policies:\n- {name: limit, every: 1ms, expr: 'task.running > duration(\""+limit+
		"\") and task.priority == 7 ? throw(\"long\") : continue()'}\n"))
	task := func(ctx context.Context) error {
		runtime.LockOSThread() // so that it is on the same thread when it has lost its P
		defer runtime.UnlockOSThread()
		s := strandOf(ctx)
		check := func(now string) {
			if s.stacks.Load().inStretch() != measures {
				when = append(when, now)
			}
		}
		check("at its start")
		must(t, Block(ctx, func() error { return nil }))
		check("after a Block")
		must(t, rt.Run(ctx, "inner", func(context.Context) error { return nil }))
		check("after a nested task")
		for s.running(notify.Now()) < firstLook(int64(20*time.Millisecond)) {
		}
		runtime.Gosched()
		for from := notify.Now(); measures && !s.stacks.Load().inStretch() && notify.Now()-from < int64(patience); {
			s.runBase.Add(1) // as a sample does
			SafePoint(ctx)
		}
		check("after it has lost its P")
		lacks()
		return nil
	}
	first, second := rt.Go(background, "at once", task), rt.Go(background, "after a wait", task)
	must(t, first.Wait(background))
	must(t, second.Wait(background))
	return when
}

// The thread's time bounds the running time of a goroutine that has left its stretch, if it has not
// run since then or is on the same thread again.
func TestStretchBoundsWhatItLeft(t *testing.T) {
	goroutine.Learn()
	if !kernel.ThreadTells || !goroutine.CanTell() {
		t.Skip("the system does not tell a thread's processor time, or the status of goroutines")
	}
	const wait = int64(20 * time.Millisecond)
	var s stretch
	began, goOn := make(chan uintptr), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		s.begin(notify.Now())
		began <- goroutine.ID()
		<-goOn
		if !s.left() {
			t.Error("on its thread again: not found")
		}
		if off, same := s.back(s.from, s.from+wait); !same || off < wait/2 || off > wait {
			t.Errorf("back on its thread after a wait of %v: no processor for %v", time.Duration(wait), time.Duration(off))
		}
		began <- 0
	}()
	g := <-began
	eventually(t, "the goroutine to wait", func() bool { return goroutine.StatusOf(g) == goroutine.Waiting })
	from := s.from
	if off, known := s.look(g, from, from+wait, false); off != nothingKnown || known {
		t.Errorf("it may run again: no processor for %v, known: %t", time.Duration(off), known)
	}
	if off, known := s.look(g, from+wait/2, from+wait, true); off < wait/4 || off > wait/2 || known {
		t.Errorf("it waits: no processor for %v of %v, known: %t", time.Duration(off), time.Duration(wait/2), known)
	}
	close(goOn)
	<-began
}

// As long as no thread lacks a core, all but a few tasks with a short lead make no system calls in
// their first moments. If such a task runs on, its safe points begin a stretch before an eighth of
// the lead is over.
func TestShortTasksAreNotMeasured(t *testing.T) {
	goroutine.Learn()
	if !kernel.ThreadTells || !goroutine.CanTell() {
		t.Skip("the system does not tell a thread's processor time, or the status of goroutines")
	}
	const lead = 5 * time.Millisecond
	rt := start(t, Config{Slots: 1, Breath: -1})
	must(t, newPolicyFile(t).load(t, rt, "policies:\n- {name: limit, every: 1ms, expr: 'task.running > duration(\""+lead.String()+
		"\") and task.priority == 7 ? throw(\"long\") : continue()'}\n"))
	earliest, first := lead, 0
	for range 20 + mostTrials { // on a busy machine a task may be away from its core just then
		rt.cpu.lackedAt.Store(0)
		rt.cpu.triedAt.Store(notify.Now())
		must(t, rt.Run(background, "job", func(ctx context.Context) error {
			s := strandOf(ctx)
			if s.stacks.Load().inStretch() {
				first++
				return nil
			}
			for SafePoint(ctx); !s.stacks.Load().inStretch(); SafePoint(ctx) {
			}
			earliest = min(earliest, time.Duration(s.running(notify.Now())))
			return nil
		}))
	}
	if first == 0 || first > mostTrials {
		t.Errorf("%d tasks were measured from their start; want 1 to %d", first, mostTrials)
	}
	if earliest > lead/8+lead/50 {
		t.Errorf("measured after %v at the earliest", earliest)
	}
}

// A task whose slot is lent because it waits has not run for all the time until the look that found
// it. A stretch tells how long it ran; otherwise half of the time since the last sample counts.
func TestWaitBeforeTheLookIsNotRunning(t *testing.T) {
	goroutine.Learn()
	if !goroutine.CanTell() {
		t.Skip("the status of goroutines is not to be had here")
	}
	const limit = 80 * time.Millisecond
	for _, measured := range []bool{true, false} {
		if measured && !kernel.ThreadTells {
			continue
		}
		rt := start(t, Config{Slots: 1, StallAfter: -1})
		_, err := rt.RegisterTimeLimit(TimeLimit{Func: "waits", Limit: limit})
		must(t, err)
		release, before := make(chan struct{}), make(chan [2]time.Duration, 1)
		var g atomic.Uintptr
		h := rt.Go(background, "waits", func(ctx context.Context) error {
			runtime.LockOSThread() // no other goroutine uses the thread's time
			defer runtime.UnlockOSThread()
			s := strandOf(ctx)
			for s.running(notify.Now()) < int64(limit/7) {
			}
			now := notify.Now()
			if measured {
				s.remembers().stretch.begin(now)
			}
			before <- [2]time.Duration{time.Duration(now), time.Duration(s.running(now))}
			g.Store(goroutine.ID())
			<-release
			return nil
		})
		eventually(t, "the wait", func() bool { return g.Load() != 0 && goroutine.StatusOf(g.Load()) == goroutine.Waiting })
		time.Sleep(3 * time.Millisecond)
		must(t, rt.Run(background, "job", idle))
		was := <-before
		ran, most := h.Account().Running-was[1], time.Duration(notify.Now())-was[0]
		if most -= min(most, time.Duration(sampleRunning)) / 2; measured {
			most /= 2
		}
		if close(release); ran > most {
			t.Errorf("a wait counts as %v of running, want %v at most; measured: %t", ran, most, measured)
		}
		must(t, h.Wait(background))
	}
}

// A task that has lost its slot in an unannounced wait, and gets one at its next safe point, is
// measured from there.
func TestMeasuredWithTheSlotThatItGetsBack(t *testing.T) {
	goroutine.Learn()
	if !kernel.ThreadTells || !goroutine.CanTell() {
		t.Skip("the system does not tell a thread's processor time, or the status of goroutines")
	}
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "waits", Limit: 20 * time.Millisecond})
	must(t, err)
	release := make(chan struct{})
	var g atomic.Uintptr
	h := rt.Go(background, "waits", func(ctx context.Context) error {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		g.Store(goroutine.ID())
		<-release
		s := strandOf(ctx)
		for s.lent.Load() {
			rt.cpu.lacked(leastLack, notify.Now())
			SafePoint(ctx)
		}
		if !s.stacks.Load().inStretch() {
			t.Error("not measured")
		}
		return nil
	})
	eventually(t, "the wait", func() bool { return g.Load() != 0 && goroutine.StatusOf(g.Load()) == goroutine.Waiting })
	must(t, rt.Run(background, "job", idle))
	close(release)
	must(t, h.Wait(background))
}
