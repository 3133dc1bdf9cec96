package cocoon

import (
	"context"
	"runtime"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// briefCall is a strand in a brief call.
type briefCall strand

// Block gives the task's slot to other tasks while fn runs: for network and disk, channels, sleep.
// It returns fn's error when the task has a slot again, even when fn panics. Without a task in ctx,
// or inside another Block, Block only calls fn.
//
// Block is a safe point before fn runs, and not afterwards. A throw that arrives while fn runs
// waits for the next safe point, so that what fn acquired reaches the caller's deferred release.
// While a throw unwinds the task, Block only calls fn. It does the same if ctx does not end with
// the task, such as a context of context.WithoutCancel: such a call is clean-up.
//
// Do not use Block for locks, except on an exclusive loop: the task would hold the lock while it
// waits for its slot. A task that waits without Block loses its slot too, if another task needs the
// slot and the runtime finds the task waiting. The task runs on when its wait ends, and asks for a
// slot at its next safe point. Block saves that search, and the task has a slot again when it
// continues.
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

// Wait is Block for functions without a result, such as the Wait method of a sync.WaitGroup.
func Wait(ctx context.Context, fn func()) {
	_ = Block(ctx, func() error { fn(); return nil })
}

// BlockCall is Block for calls through third-party code that may leak a connection when it is
// unwound, such as database/sql. It is not a safe point, and never panics by itself. If a throw is
// pending, BlockCall ends the task's context, or the section's, before it calls fn. So fn sees what
// it sees in plain Go when its context is cancelled: a call with this context fails, clean-up with
// another context succeeds, and the code around fn gets an error and returns. After that the throw
// unwinds the task. In two cases BlockCall does not call fn, and returns the throw: if a policy on
// the event block has just thrown, and if the task has ignored the throw for 100 ms. In the first
// case the context ends a little later, so that a rollback with it costs no connection. With a ctx
// that does not end with the task's context it always calls fn.
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

// away gives the task's slot to other tasks while fn runs.
func (s *strand) away(fn func() error) error {
	s.endStretch()
	if s.aside() {
		s.beginAside()
	} else {
		s.beginRest()
	}
	// Frames are few here. Go gives a goroutine 2 KiB of stack, and takes it back to that while the
	// task waits. If the way back to the slot does not fit, each task of a crowd that comes back
	// copies its stack to a larger one first, which takes longer than the rest of the way.
	defer func() {
		switch {
		case s.inBlock.Load():
			s.endAside()
		case s.endRest():
			s.keptSlot()
		default:
			s.unblock(false)
		}
	}()
	return fn()
}

// beginAside begins a Block of a task that stands aside, which has no slot to give up.
func (s *strand) beginAside() {
	s.blocked = true
	s.inBlock.Store(true) // what the task does here does not count as running
}

func (s *strand) endAside() {
	s.inBlock.Store(false)
	s.blocked = false
	s.cameBack()
}

// Yield lets the waiting tasks go first: the slot goes round once. It is a safe point. Without a
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

// passOn lets the waiting tasks go first, and reports whether the task had to wait for them.
func (s *strand) passOn() (waited bool) {
	l := s.loop
	s.endStretch()
	l.lock()
	now := notify.Now()
	if s.meet(now); s.lent.Load() {
		l.gatherOne(now)
	}
	l.unseat(s, now)
	s.dropLent() // lent since the last request was handled
	keeps := l.core.Yield(&s.core, now)
	if keeps {
		l.seat(s, now)
	} else {
		l.deliver(now)
		keeps = l.lendTo(s, now)
	}
	if keeps {
		l.unlock()
		return false
	}
	s.awaitSlot(now)
	s.makeUp(now)
	return true
}

// block gives the task's slot up.
func (s *strand) block() {
	l := s.loop
	s.endStretch()
	if s.parked.Load() {
		s.comesUp()
	}
	taken := s.lockAtRest()
	if now := notify.Now(); !taken {
		s.meet(now)
		l.unseat(s, now)
		s.dropLent()
		l.core.Block(&s.core, now)
		l.deliver(now)
	}
	l.unlock()
	s.blocked = true
}

// lockAtRest takes the loop's lock. While the task waits for the lock, it rests, because a crowd
// that arrives may keep the lock for longer than a limit. lockAtRest reports whether the slot was
// taken meanwhile.
func (s *strand) lockAtRest() (taken bool) {
	l := s.loop
	if l.tryLock() {
		return false
	}
	rests := s.mayRest()
	if rests {
		s.rest.Add(-notify.Now())
	}
	l.lock()
	return rests && !s.endRest()
}

// unblock gets the task a slot again. message says that it is back from the wait for a message.
func (s *strand) unblock(message bool) {
	l := s.loop
	if s.standsAside() {
		l.lock()
		s.stayAside(notify.Now())
		return
	}
	l.lock()
	if now := notify.Now(); s.brisk() && l.holderLacksP(now, soonRuns) {
		s.stayAside(now)
		return
	}
	left := s.core.Since()
	granted, now := s.regainAfter(message)
	if granted {
		l.unlock()
		s.beginStretch(now)
	} else {
		s.awaitSlot(now)
		if s.standsAside() { // the runtime has learned it while a crowd waited for slots
			s.standAside()
		}
	}
	s.blocked = false
	s.makeUp(left)
	s.cameBack()
	l.rt.armGaps()
}

// cameBack raises the event unblock. Each event block has one, however the Block went.
func (s *strand) cameBack() {
	if s.loop.wants(stubs.Unblock) {
		s.loop.happened(s, stubs.Unblock)
	}
}

// stayAside ends a Block of a task that stands aside from now on. Called under the loop's lock by
// the task's goroutine, and releases the lock.
func (s *strand) stayAside(now int64) {
	l := s.loop
	l.absent.addParked(s)
	l.armSweep(now)
	l.unlock()
	s.blocked = false
	s.cameBack()
}

// beginRest begins a Block. It returns how long the task had rested before.
func (s *strand) beginRest() (rested int64) {
	l := s.loop
	if l.wanted.Load() || !s.mayRest() {
		s.block()
		return 0
	}
	s.blocked = true
	if s.brief.Load() != int32(inside.None) {
		s.brief.Store(int32(inside.None))
	}
	now := notify.Now()
	rested = s.rest.Add(-now) + now
	if l.wanted.Load() && s.endRest() {
		s.block()
	}
	return rested
}

// afterRest ends a Block, or the wait for a message.
func (s *strand) afterRest(message bool) {
	if s.endRest() {
		s.keptSlot()
	} else {
		s.unblock(message)
	}
}

// keptSlot ends a rest after which the task still has its slot.
func (s *strand) keptSlot() {
	s.beginStretch(s.restedAt.Load())
	s.afterCall()
}

// afterCall ends a Block in which the task kept its slot.
func (s *strand) afterCall() {
	s.blocked = false
	s.breath.looked = 0 // the time that it ran before the pause no longer counts
	s.rests.add()
	s.cameBack()
}

func init() { inside.BeginBrief, inside.OnThrow = beginBrief, onThrow }

func beginBrief(ctx context.Context, what inside.Brief) (call inside.Call, err error) {
	s := strandOf(ctx)
	if s == nil || s.blocked {
		return call, nil
	}
	if err := s.mayCall(ctx); err != nil {
		return call, err
	}
	call.Task = (*briefCall)(s)
	s.endStretch()
	if s.aside() {
		s.beginAside()
		return call, nil
	}
	if s.lent.isExtra() || what == inside.Works && s.loop.lends() && s.mayBeTimed() {
		s.brief.Store(int32(what))
		return call, nil
	}
	if what != inside.Writes {
		call.Leaves, call.Known = goroutine.Leaves()
	}
	if what == inside.None {
		call.Rested = s.beginRest()
		return call, nil
	}
	now := notify.Now()
	if !s.keepsSlot(now) {
		call.Rested = s.beginRest()
		return call, nil
	}
	s.blocked = true
	if s.brief.Load() != int32(what) {
		s.brief.Store(int32(what))
	}
	call.Rested = s.rest.Add(-now) + now
	return call, nil
}

// EndCall ends a brief call. It is for inside.Call.
func (c *briefCall) EndCall(call inside.Call) {
	s := (*strand)(c)
	if !s.blocked { // it has counted as running
		s.brief.Store(int32(inside.None))
		s.cameBack()
		return
	}
	switch n, _ := goroutine.Leaves(); {
	case call.Known && n == call.Leaves && s.forgetRest(call.Rested):
		s.afterCall()
	case s.inBlock.Load():
		s.endAside()
	default:
		s.afterRest(call.Known)
	}
}
