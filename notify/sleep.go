package notify

import (
	"sync/atomic"
	"time"
)

// sleeper is how a timer's goroutine sleeps. All methods except wake are called on the goroutine.
type sleeper interface {
	enter() // before the first sleep
	leave() // after the last; the goroutine must end next
	// sleep returns at the time at, after wake, or spuriously. It does not sleep unless *state is
	// asleep. now is the time of the call, before at.
	sleep(state *atomic.Uint32, at, now int64)
	// wake ends a sleep, even if the sleep is about to begin. It is called after *state was changed
	// from asleep to awake.
	wake(state *atomic.Uint32)
}

// goSleeper sleeps by Go's own timer: for relaxed timers, and for systems without a futex. It is as
// punctual as the Go scheduler.
type goSleeper struct {
	timer *time.Timer
	woken chan struct{} // holds a wake that the goroutine has not seen
}

func newGoSleeper() sleeper { return &goSleeper{woken: make(chan struct{}, 1)} }

func (s *goSleeper) enter() {}

func (s *goSleeper) leave() {
	if s.timer != nil {
		s.timer.Stop()
	}
}

func (s *goSleeper) sleep(_ *atomic.Uint32, at, now int64) {
	if at == Never {
		<-s.woken
		return
	}
	if s.timer == nil {
		s.timer = time.NewTimer(time.Duration(at - now))
	} else {
		s.timer.Reset(time.Duration(at - now))
	}
	select {
	case <-s.woken:
	case <-s.timer.C:
	}
}

func (s *goSleeper) wake(*atomic.Uint32) {
	select {
	case s.woken <- struct{}{}:
	default: // the goroutine has yet to see an earlier wake, which serves for this one too
	}
}
