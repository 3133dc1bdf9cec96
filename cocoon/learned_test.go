package cocoon

import (
	"context"
	"testing"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/sched"
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
