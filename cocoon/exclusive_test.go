package cocoon

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/notify"
)

// A task of an exclusive loop that waits outside Block for another task of the loop waits without
// end, as a goroutine does that holds a lock meanwhile. The log says so, once per wait and again
// when the wait has become ten times as long.
func TestWaitOnAnExclusiveLoopIsLogged(t *testing.T) {
	var log journal
	rt := start(t, Config{Logger: log.logger()})
	goroutine.Learn()
	if !goroutine.CanTell() {
		t.Skip("the status of goroutines is not to be had here")
	}
	l, err := rt.NewLoop(LoopConfig{Name: "ex", Exclusive: true})
	must(t, err)
	end := make(chan struct{})
	waits := begun(t, l, background, "waits", func(context.Context) error { <-end; return nil })
	s := waits.Task().strand
	eventually(t, "it to wait", func() bool { l.lock(); defer l.unlock(); return s.status() == goroutine.Waiting })
	other := l.Go(background, "other", nothing)
	eventually(t, "the other to wait", func() bool { return l.Stats().Queued == 1 })

	begin := notify.Now()
	lines := func(after time.Duration) int {
		l.lock()
		l.findKept(begin + int64(after))
		l.unlock()
		rt.log.flush()
		return strings.Count(log.String(), "keeps its slot of an exclusive loop")
	}
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{0, 0}, {time.Second, 0}, {3 * time.Second, 1}, {20 * time.Second, 1}, {31 * time.Second, 2}} {
		if n := lines(c.after); n != c.want {
			t.Errorf("%d lines after %v; want %d\n%s", n, c.after, c.want, log.String())
		}
	}
	for _, want := range []string{"level=WARN", "task=waits", "loop=ex", "waits=3", "queued=1", "first=other"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %s in:\n%s", want, log.String())
		}
	}
	close(end)
	must(t, waits.Wait(background))
	must(t, other.Wait(background))
}

// A holder that computes, or waits again and again, is no news: others wait as for any task.
func TestShortWaitsOnAnExclusiveLoopAreNotLogged(t *testing.T) {
	rt := start(t, Config{})
	goroutine.Learn()
	if !goroutine.CanTell() {
		t.Skip("the status of goroutines is not to be had here")
	}
	l, err := rt.NewLoop(LoopConfig{Name: "ex", Exclusive: true})
	must(t, err)
	wake, end := make(chan struct{}), make(chan struct{})
	h := begun(t, l, background, "job", func(context.Context) error {
		<-wake
		<-wake
		return keepSlot(end)
	})
	s := h.Task().strand
	keeps := func(after time.Duration) (kept, waits bool) {
		l.lock()
		defer l.unlock()
		kept = s.keeps(int64(time.Hour + after))
		return kept, s.status() == goroutine.Waiting
	}
	eventually(t, "it to wait", func() bool { _, waits := keeps(0); return waits })
	keeps(0)
	before, _ := goroutine.LeavesOf(s.g.Load())
	wake <- struct{}{}
	eventually(t, "it to wait again", func() bool {
		leaves, _ := goroutine.LeavesOf(s.g.Load())
		return leaves != before && goroutine.StatusOf(s.g.Load()) == goroutine.Waiting
	})
	if kept, _ := keeps(3 * time.Second); kept {
		t.Error("two waits count as one")
	}
	wake <- struct{}{}
	eventually(t, "it to run", func() bool { return goroutine.StatusOf(s.g.Load()) == goroutine.Running })
	if kept, _ := keeps(6 * time.Second); kept {
		t.Error("a task that computes counts as one that waits")
	}
	close(end)
	must(t, h.Wait(background))
}
