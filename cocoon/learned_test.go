package cocoon

import (
	"context"
	"runtime"
	"testing"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/notify"
)

// A crowd of tasks that come back looks at the same holder at nearly the same time. That it ran
// then counts once, or the class would seem to run most of the time.
func TestLooksOfACrowdCountOnce(t *testing.T) {
	var seen found
	for i := range int64(1000) {
		seen.running(minLook + i)
	}
	if n := seen.runs.Load(); n != 1 {
		t.Errorf("%d looks within a microsecond counted; want 1", n)
	}
	for range 4 { // the holders of four slots, in one look
		seen.running(3 * minLook)
	}
	if n := seen.runs.Load(); n != 5 {
		t.Errorf("a look at four holders counted %d; want 4", n-1)
	}
	for range 2*5 + 1 {
		seen.waiting()
	}
	if !seen.mostlyWait() {
		t.Error("the class seems to run most of the time")
	}
}

// A crowd that arrives runs, and may wait from then on. The runtime learns this after manyLooks
// looks, however long the crowd arrived.
func TestOldLooksCountLittle(t *testing.T) {
	var seen found
	for i := range int64(2000) {
		seen.running(minLook * (i + 1))
	}
	for range manyLooks {
		seen.waiting()
	}
	if !seen.mostlyWait() {
		t.Errorf("%d waits are outweighed by %d times running, the last of which is older", manyLooks, seen.runs.Load())
	}
}

// Tasks that wake at the same time wait for a processor, and do not count as running meanwhile. A
// task whose processor was taken counts: with one processor, no task runs when the runtime looks.
func TestWokenTaskIsNotRunning(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	goroutine.Learn()
	l := rt.Loop()
	wake, end := make(chan struct{}), make(chan struct{})
	h := begun(t, l, background, "job", func(context.Context) error {
		<-wake
		return stall(func() bool { return closed(end) })
	})
	s := h.Task().strand
	eventually(t, "it to wait", func() bool {
		l.lockAll()
		defer l.unlock()
		if s.status() == goroutine.Waiting {
			l.park(s, notify.Now())
		}
		return s.parked.Load()
	})
	look := func() (status goroutine.Status, counts bool) {
		l.lockAll()
		defer l.unlock()
		before, now := s.task.class.seen.runs.Load(), notify.Now()
		status = s.status()
		s.ran = false // or it surfaces
		l.sweepOne(s, now)
		return status, s.task.class.seen.runs.Load() > before
	}
	close(wake)
	if status, counts := look(); status == goroutine.Ready && counts {
		t.Error("a task that has just been woken counts as running")
	}
	eventually(t, "its processor to be taken", func() bool {
		status, counts := look()
		return status == goroutine.Runnable && counts
	})
	close(end)
	must(t, h.Wait(background))
}

// While a task waits for a slot after Block, the runtime may learn that its class mostly waits. The
// task then gives up the slot that it gets, as a task does that starts.
func TestTaskStandsAsideAfterItsWaitForASlot(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	goroutine.Learn()
	l := rt.Loop()
	back, end := make(chan struct{}), make(chan struct{})
	h := begun(t, l, background, "job", func(ctx context.Context) error {
		must(t, Block(ctx, func() error { <-back; return nil }))
		return stall(func() bool { return closed(end) })
	})
	release := taken(t, l)
	defer release()
	close(back)
	s := h.Task().strand
	eventually(t, "it to wait for a slot", func() bool {
		l.lockAll()
		defer l.unlock()
		return s.core.State() == sched.Ready
	})
	for range fewLooks {
		s.task.class.seen.waiting()
	}
	release()
	eventually(t, "it to run without a slot", func() bool { return s.lent.Load() })
	close(end)
	must(t, h.Wait(background))
}

// A crowd that wakes waits for processors, perhaps for long. Its tasks do not ask for slots because
// of that: they surface only if looks find them running.
func TestWokenTaskDoesNotSurface(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	goroutine.Learn()
	l := rt.Loop()
	wake := make(chan struct{})
	h := begun(t, l, background, "job", func(context.Context) error { <-wake; return nil })
	s := h.Task().strand
	eventually(t, "it to wait", func() bool {
		l.lockAll()
		defer l.unlock()
		if s.status() == goroutine.Waiting {
			l.park(s, notify.Now())
		}
		return s.parked.Load()
	})
	close(wake)
	l.lockAll()
	looks := 0
	for ; looks < 3 && s.parked.Load() && s.status() == goroutine.Ready; looks++ {
		l.sweepOne(s, notify.Now())
	}
	surfaced := !s.parked.Load()
	l.unlock()
	if surfaced {
		t.Errorf("after %d looks a task that waits for a processor has surfaced", looks)
	}
	must(t, h.Wait(background))
}

// A task that would stand aside as soon as it runs does not keep its slot from the next task until
// then. A task that has surfaced keeps the slot: it asked because it runs.
func TestGrantedTasksAreSetAsideAtOnce(t *testing.T) {
	const n = 5
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	must(t, newPolicyFile(t).load(t, rt, "tasks: {stream: waits}\n"))
	l := rt.Loop()
	end := make(chan struct{})
	surfaced := begun(t, l, background, "stream", func(ctx context.Context) error {
		return stall(func() bool { SafePoint(ctx); return closed(end) })
	})
	h := begun(t, l, background, "holder", func(context.Context) error { return keepSlot(end) })
	l.lockAll()
	l.surface(surfaced.Task().strand, notify.Now())
	surfaced.Task().strand.post(wantProbe, notify.Now())
	l.unlock()
	eventually(t, "it to ask for a slot", func() bool { return l.Stats().Queued == 1 })
	handles := []*Handle{h, surfaced}
	for range n {
		handles = append(handles, l.Go(background, "stream", nothing))
	}
	eventually(t, "all to wait for a slot", func() bool { return l.Stats().Queued == n+1 })

	take := func(s *strand) (waiting int) {
		l.lockAll()
		defer l.unlock()
		l.park(s, notify.Now())
		return l.core.Waiting()
	}
	if waiting := take(h.Task().strand); waiting != n {
		t.Errorf("%d tasks wait, while one that has surfaced should have the slot and %d should wait", waiting, n)
	}
	if waiting := take(surfaced.Task().strand); waiting != 0 {
		t.Errorf("%d tasks wait, though none of them needs the slot for longer than to stand aside", waiting)
	}
	close(end)
	for _, h := range handles {
		must(t, h.Wait(background))
	}
}
