package cocoon

import (
	"context"
	"runtime"
	"testing"
	"time"
)

// If Config does not set the number of slots, it follows the number of processors while tasks wait,
// up to the maximum, and down. Running tasks are not disturbed, and no task is lost.
func TestSlotsFollowTheProcessors(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("one processor has nothing to follow")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	rt := start(t, Config{KeepProcs: true, StallAfter: -1})
	if n := rt.Loop().Stats().Slots; n != 1 {
		t.Fatalf("%d slots on one processor", n)
	}
	stop := make(chan struct{})
	var tasks []*Handle
	for range 3 {
		tasks = append(tasks, rt.Go(background, "job", func(ctx context.Context) error { spin(ctx, stop); return nil }))
	}
	runtime.GOMAXPROCS(2)
	eventually(t, "a second slot", func() bool { st := rt.Loop().Stats(); return st.Slots == 2 && st.Busy == 2 })
	runtime.GOMAXPROCS(1)
	eventually(t, "one slot again", func() bool { return rt.Loop().Stats().Slots == 1 })
	if n := rt.Loop().Stats().Busy; n != 2 {
		t.Errorf("%d tasks run, of two that did", n)
	}
	close(stop)
	for _, h := range tasks {
		must(t, h.Wait(background))
	}
	must(t, rt.Run(background, "job", idle))
	must(t, rt.Run(background, "job", idle))
}

// If Config sets the number of slots, it does not change.
func TestNamedSlotsStay(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	rt := start(t, Config{Slots: 3, KeepProcs: true, StallAfter: -1})
	rt.warmth.mu.Lock()
	rt.followProcs(int64(time.Hour))
	rt.warmth.mu.Unlock()
	if n := rt.Loop().Stats().Slots; n != 3 {
		t.Errorf("%d slots, want the 3 that were asked for", n)
	}
}
