package cocoon

import (
	"context"
	"runtime"

	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// Block runs fn while the task's slot is given to others: for network and disk, channels, sleep. It
// returns fn's error when the task has a slot again, also when fn panics. Without a task in ctx, or
// inside another Block, fn just runs.
//
// Block is a safe point before fn runs, and none afterwards: a throw that comes meanwhile waits for
// the next safe point, so what fn acquired is not lost, and reaches the caller's deferred release.
// While a throw unwinds the task, fn just runs. So it does with a context that does not end when
// the task's does, as that of context.WithoutCancel: that is clean-up.
//
// A lock wants no Block, but on an exclusive loop: the task would hold it while it waits for its
// slot. A task that waits without Block loses its slot as well, when another task needs it and the
// runtime has found it waiting; it runs on when it has what it waited for, and asks for a slot at
// its next safe point. Block saves the search, and the task has a slot again when it goes on.
func Block(ctx context.Context, fn func() error) error {
	s := strandOf(ctx)
	if s == nil || s.blocked {
		return fn()
	}
	s.heedFor(ctx)
	if s.loop.wants(stubs.Block) {
		s.loop.happened(s, stubs.Block)
		s.heedFor(ctx)
	}
	return s.away(fn)
}

// BlockCall is Block for calls that are made through other people's code, such as database/sql,
// which may lose a connection when it is unwound: it is no safe point, and never panics by itself.
// A throw that is due ends the task's context, or that of the section, before fn runs. So fn meets
// just what it meets in plain Go when its context is cancelled: a call with this context fails,
// clean-up with another succeeds, and the code around it sees an error and comes back. Then the
// task is thrown out of. The throw is the error of BlockCall, and fn is not called, where a policy
// on the event block throws for this very call, and where the task has not come back for 100 ms;
// but not if ctx goes on when the task's context has ended.
func BlockCall(ctx context.Context, fn func() error) error {
	s := strandOf(ctx)
	if s == nil || s.blocked {
		return fn()
	}
	if err := s.mayCall(ctx); err != nil {
		return err
	}
	return s.away(fn)
}

// mayCall returns the throw that is the error of a call that is about to begin, in place of the
// call.
func (s *strand) mayCall(ctx context.Context) error {
	due := s.requests.Load()&wantThrow != 0
	if s.loop.wants(stubs.Block) {
		s.loop.happened(s, stubs.Block)
	}
	return s.warn(ctx, due)
}

// away runs fn while the task's slot is given to others.
func (s *strand) away(fn func() error) error {
	if s.aside() {
		s.beginAside()
	} else {
		s.beginRest()
	}
	defer s.endAway()
	return fn()
}

// endAway ends what away began.
func (s *strand) endAway() {
	if s.inBlock.Load() {
		s.endAside()
	} else {
		s.afterRest()
	}
}

// Yield lets the tasks that wait go first: the slot goes round once. It is a safe point. Without a
// task in ctx it yields the processor to other goroutines.
func Yield(ctx context.Context) {
	s := strandOf(ctx)
	if s == nil || s.blocked {
		runtime.Gosched()
		return
	}
	s.answer()
	if s.passOn() {
		s.answer()
	}
}

// passOn lets the tasks that wait go first, and reports whether it parked meanwhile.
func (s *strand) passOn() (parked bool) {
	l := s.loop
	l.lock()
	now := notify.Now()
	if s.meet(now); s.lent.Load() {
		l.gatherOne()
	}
	l.unseat(s, now)
	s.dropLent() // lent since the last answer
	keeps := l.core.Yield(&s.core, now)
	if keeps {
		l.seat(s, now)
	} else {
		l.deliver(now)
		keeps = l.lendTo(s, now)
	}
	lookAt := l.lookAt
	l.unlock()
	if !keeps {
		l.armLook(now, lookAt)
		<-s.token()
	}
	return !keeps
}

// block gives the task's slot up.
func (s *strand) block() {
	l := s.loop
	l.lock()
	now := notify.Now()
	s.meet(now)
	s.insist()
	l.unseat(s, now)
	s.dropLent()
	l.core.Block(&s.core, now)
	l.deliver(now)
	l.unlock()
	s.blocked = true
}

// unblock gets it a slot again.
func (s *strand) unblock() {
	l := s.loop
	if s.standsAside() {
		s.stayAside()
		return
	}
	l.lock()
	l.gatherOne()
	now := notify.Now()
	granted := l.core.Unblock(&s.core, now)
	if granted {
		l.seat(s, now)
	} else if granted = l.lendTo(s, now); !granted {
		l.returning(s, now)
	}
	lookAt := l.lookAt
	l.unlock()
	if !granted {
		l.armLook(now, lookAt)
		<-s.token()
	}
	s.blocked = false
	if l.wants(stubs.Unblock) {
		l.happened(s, stubs.Unblock)
	}
	l.rt.armGaps()
}

// dropLent takes s off the lists of tasks without a slot. Called under the loop's lock.
func (s *strand) dropLent() {
	if s.lent.Load() {
		s.loop.absent.remove(s)
		s.comeBack()
	}
}
