package cocoon

import (
	"context"
	"errors"
	"testing"
	"time"
)

// treacherous is the cause of a context. Its methods are application code.
type treacherous struct{ t *testing.T }

func (treacherous) Error() string { return "gone" }
func (e treacherous) Is(error) bool {
	e.t.Error("the runtime asked the cause of a context what it is")
	return true
}
func (e treacherous) Unwrap() error {
	e.t.Error("the runtime unwrapped the cause of a context")
	return nil
}

// Each task that never started is counted once, by its reason.
func TestRefusalsByReason(t *testing.T) {
	rt := start(t, Config{Slots: 1, MaxQueue: 2, StallAfter: -1})
	register(t, rt, Policy{Name: "no", On: OnEnqueue, Expr: `arriving.name == "unwanted" ? throw("not now") : continue()`})
	refused := func(name string, ctx context.Context) {
		if rt.Run(ctx, name, idle) == nil {
			t.Errorf("%s was not refused", name)
		}
	}
	refused("unwanted", background) // although a slot is free
	gate := make(chan struct{})
	holder := begun(t, rt.Loop(), background, "holder", func(context.Context) error { return keepSlot(gate) })
	refused("unwanted", background)
	gone, cancel := context.WithCancelCause(background)
	ended := make(chan struct{})
	go func() { defer close(ended); refused("its caller leaves", gone) }()
	waits := rt.Go(background, "is cancelled", idle)
	eventually(t, "both to wait", func() bool { return rt.Loop().Stats().Queued == 2 })
	refused("too many", background)
	cancel(treacherous{t})
	<-ended
	waits.Cancel()
	if err := waits.Wait(background); !errors.Is(err, ErrCancelled) {
		t.Errorf("got %v", err)
	}
	refused("its caller has left", gone)
	late := rt.Go(background, "is too late", idle)
	eventually(t, "it to wait", func() bool { return rt.Loop().Stats().Queued == 1 })

	over, stop := context.WithCancel(background)
	stop()
	down := make(chan error, 1)
	go func() { down <- rt.Shutdown(over) }()
	if err := late.Wait(background); !errors.Is(err, ErrShutdown) {
		t.Errorf("got %v", err)
	}
	refused("after the end", background)
	close(gate)
	holder.Wait(background)
	must(t, <-down)
	want := Refusals{Policy: 2, Overloaded: 1, Shutdown: 2, Cancelled: 3}
	if st := rt.Loop().Stats(); st.Refusals != want || st.Refused != want.sum() {
		t.Errorf("%d: %+v; want %+v", st.Refused, st.Refusals, want)
	}
}

// The busy time is the slots' time in use, while a task runs and afterwards.
func TestBusyTime(t *testing.T) {
	rt := start(t, Config{Slots: 2, StallAfter: -1})
	const busy = 20 * time.Millisecond
	begin := time.Now()
	must(t, rt.Run(background, "job", func(context.Context) error {
		for time.Since(begin) < busy {
		}
		if got := rt.Loop().Stats().BusyTime; got < busy-time.Millisecond || got > time.Since(begin) {
			t.Errorf("meanwhile %v", got)
		}
		return nil
	}))
	all := time.Since(begin)
	got := rt.Loop().Stats().BusyTime
	time.Sleep(2 * time.Millisecond)
	if again := rt.Loop().Stats().BusyTime; got < busy-time.Millisecond || got > all || again != got {
		t.Errorf("%v, and later %v", got, again)
	}
}
