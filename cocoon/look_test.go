package cocoon

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/notify"
)

// While the slots change hands fast, the timer looks at the holders ever less often, down to once
// in rareLook, also when no task happens to wait at the moment of a look. Otherwise the next
// waiting task has a look after minLook.
func TestLooksAreRareOnABusyLoop(t *testing.T) {
	rt := start(t, Config{Slots: 2})
	l := rt.Loop()
	l.lockAll()
	defer l.unlock()
	now := notify.Now()
	l.lentAt = now - 2*noneWaits // the process may have just started
	for range 10 {
		l.busy += fastTurnover * int64(len(l.slots))
		if next := l.findWaits(now); next != notify.Never {
			t.Fatalf("no task waits, and the next look is %v later", time.Duration(next-now))
		}
		now = l.lookAt
	}
	if l.lookEvery != rareLook {
		t.Errorf("a look each %v; want %v", time.Duration(l.lookEvery), time.Duration(rareLook))
	}
	l.busy++
	if l.findWaits(now); l.lookAt > now {
		t.Errorf("the loop is not busy, and the next look is %v later", time.Duration(l.lookAt-now))
	}
	l.lentAt = now // a holder was found waiting just now
	l.busy += fastTurnover * int64(len(l.slots))
	if l.findWaits(now); l.lookAt > now {
		t.Errorf("holders wait, and the next look is %v later", time.Duration(l.lookAt-now))
	}
}

// A look that finds a holder back from a wait, without a processor, does not count it as running. A
// holder whose processor was taken counts: with one processor, the look has it.
func TestReadyHolderIsNotSeenRunning(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	rt := start(t, Config{Slots: 1, StallAfter: -1, KeepProcs: true})
	goroutine.Learn()
	var done atomic.Bool
	wake := make(chan struct{})
	h := begun(t, rt.Loop(), background, "ready", func(context.Context) error {
		<-wake
		return stall(done.Load)
	})
	eventually(t, "it to wait", func() bool { return h.Task().strand.status() == goroutine.Waiting })
	l, seen := rt.Loop(), &h.Task().class.seen
	l.lockAll()
	close(wake)
	l.lendWaits(notify.Now())
	if n := seen.runs.Load(); n != 0 {
		t.Errorf("%d looks found it running", n)
	}
	l.unlock()
	eventually(t, "a look to find it running", func() bool {
		time.Sleep(time.Millisecond) // it runs until its processor is taken
		l.lockAll()
		defer l.unlock()
		l.lendWaits(notify.Now())
		return seen.runs.Load() == 1
	})
	done.Store(true)
	must(t, h.Wait(background))
}

// The tasks without a slot that matter are those on which a time policy can act. Of very many tasks
// the lead of any task counts, because the look-up happens under the loop's lock.
func TestAbsentLead(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	goroutine.Learn()
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "limited", Limit: time.Hour})
	must(t, err)
	l := rt.Loop()
	until := make(chan struct{})
	defer close(until)
	lead := func(name string) int64 {
		t.Helper()
		h := waiting(t, l, name, until)
		l.lockAll()
		defer l.unlock()
		if s := h.Task().strand; !s.lent.Load() {
			l.park(s, notify.Now())
		}
		return l.absentLead()
	}
	if got := lead("other"); got != notify.Never {
		t.Errorf("a task without a limit: %v", time.Duration(got))
	}
	if got := lead("limited"); got != int64(time.Hour)+1 { // the policy says: more than the limit
		t.Errorf("a task with a limit: %v", time.Duration(got))
	}
	l.lockAll()
	defer l.unlock()
	if least := l.leads.Load().least; least != int64(time.Hour)+1 {
		t.Errorf("the least of all: %v", time.Duration(least))
	}
}
