//go:build !linux

package notify

import (
	"sync/atomic"
	"time"
)

// sleeper sleeps by Go's own timer. It is as punctual as the scheduler lets it be.
type sleeper struct {
	timer *time.Timer
	woken chan struct{}
}

func (s *sleeper) init() { s.woken = make(chan struct{}, 1) }

func (s *sleeper) enter() {}

func (s *sleeper) leave() {}

func (s *sleeper) onThread() bool { return false }

// sleep returns at the time at, or after wake, or for no reason. It does not sleep when wake was called since *state was
// set to asleep: the channel holds that.
func (s *sleeper) sleep(_ *atomic.Uint32, at, now int64) {
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

// wake ends sleep.
func (s *sleeper) wake(*atomic.Uint32) {
	select {
	case s.woken <- struct{}{}:
	default: // one is waiting to be taken already
	}
}
