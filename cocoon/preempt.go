package cocoon

import (
	"context"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/safepoint"
)

func init() {
	safepoint.Attach(answer)
	inside.Here, inside.Asked = here, askedOf
}

// here reports whether the calling goroutine runs the task of ctx.
func here(ctx context.Context) bool { return strandOf(ctx) != nil }

// askedOf reports whether the task of ctx, on its own goroutine, has a request.
func askedOf(ctx context.Context) bool {
	s := strandOf(ctx)
	return s != nil && s.asked()
}

// SafePoint is a place where the calling task may be preempted: switched out for another task, or
// thrown into. A throw unwinds the task, as a panic with a *PreemptedError, up to the next Section,
// Run or Go. Call SafePoint in loops that may run long, where the task's data are consistent and no
// lock is held. Inside a callback from C, and under a lock that code from cocoon build is known to
// hold, SafePoint does nothing: see docs/safepoints.md. Without a task in ctx it is the poll of
// package safepoint, for the task of its goroutine, if there is one. Cost: about 1.5 ns (bench:
// poll) while no request is pending for any task. The cost includes the breath (see Config.Breath).
func SafePoint(ctx context.Context) {
	if safepoint.Raised() || countsDown(ctx) {
		answerFor(ctx)
	}
}

// countsDown counts the safe point, and reports whether the count is over.
func countsDown(ctx context.Context) bool {
	t, ok := ctx.(*taskContext)
	return ok && t.strand.breath.left.poll()
}

// answerFor is the slow path of SafePoint. It is a separate function so that SafePoint has a small
// frame.
//
//go:noinline
func answerFor(ctx context.Context) {
	if s := strandOf(ctx); s != nil {
		s.answer()
	} else if safepoint.Raised() {
		answer()
	}
}

// answer is the slow path of every poll of the process.
func answer() {
	if holdsLock() {
		return
	}
	if s := strandOfGoroutine(); s != nil {
		s.answerPoll()
	} else if p := pullingOf(goroutine.ID()); p != nil {
		p.askDriver()
	}
}

// answer is the slow path of a safe point in the source.
func (s *strand) answer() {
	s.inserted = false
	s.respond()
}

// answerPoll is the slow path of a poll of package safepoint, which cocoon build inserts.
func (s *strand) answerPoll() {
	s.inserted = true
	s.respond()
}

// respond handles the requests to the task. It returns when the task may continue, or panics with a
// throw. If the task has no request, the word is raised for another task, and that task's thread
// may be waiting for this core.
func (s *strand) respond() {
	if !s.asked() {
		s.breathe()
		return
	}
	for s.asked() {
		if s.blocked {
			return
		}
		if s.stacks.Load().isBusy() { // findMask called the poll, or see deafen
			return
		}
		o := s.findMask()
		if o.masked || o.cleansUp && o.asked == wantThrow && !o.lent {
			s.met.Store(patienceOfPolls)
			return
		}
		if !s.answerOnce(o) {
			return
		}
	}
}

// deafen makes the task's safe points do nothing until the returned function is called. Boundaries
// ask errors of the application what they are. Their methods, such as Is, may poll, and a throw in
// there would leave the boundary half-way: the task would keep its slot after its end.
func (s *strand) deafen() (hear func()) {
	m := s.remembers()
	before := m.busy
	m.busy = true
	return func() { m.busy = before }
}

// asked reports whether the task has a request, or must ask for a slot itself.
func (s *strand) asked() bool {
	return s.requests.Load() != 0 || s.lent.Load() && !s.aside() && !s.lent.isExtra()
}

// answerOnce takes the requests and carries them out. It reports whether to look again: the task
// may have got new requests while it waited, or has some that this call did not look for. While the
// task cleans up, a throw stays for later, and the word stays raised.
func (s *strand) answerOnce(o maskState) (again bool) {
	l := s.loop
	l.lock()
	now, left := notify.Now(), int64(notify.Never)
	if s.parked.Load() {
		left = s.core.Since()
		l.surface(s, now)
	}
	if !o.stands(s) {
		l.unlock()
		return true
	}
	want, keep := s.takeRequests(now)
	suspended := false
	if want&wantThrow != 0 && !o.cleansUp {
		s.answerThrow(now)
		return false
	}
	switch {
	case s.lent.Load():
		s.sampleLate(now)
		if s.dropLent(); s.regain(now) {
			l.unlock()
			s.beginStretch(now)
			s.makeUp(left)
			return true
		}
	case want&wantSwitch != 0 && l.core.Suspend(&s.core, now):
		s.switched(now)
		left = now
		l.deliver(now) // to the next holder, which replaces this one in the record
		suspended = true
	default:
		if keep&wantThrow != 0 {
			s.raise(now)
		}
		l.unlock()
		return false
	}
	if s.awaitSlot(now); suspended {
		s.showSuspension(now)
	}
	s.makeUp(left)
	return true
}

// takeRequests takes the requests for the task at a safe point. It returns them in want, and in
// keep the requests that stay posted: a throw until it has arrived, a switch until the task's
// immunity is over. Called under the loop's lock.
func (s *strand) takeRequests(now int64) (want, keep uint32) {
	want = s.requests.Load()
	if want != 0 {
		s.loop.stats.toSafePoint.add(now - s.postedAt)
	}
	keep = want & wantThrow
	if want&wantSwitch != 0 && now < s.core.Immune() {
		keep |= wantSwitch
	}
	s.endGap(now)
	s.requests.Store(keep)
	s.lower()
	s.pause = 0
	if s.polled = (s.inserted || s.loop.lends()) && s.core.Kind == Atomic && !s.task.class.fixed(); !s.polled {
		s.lastSafe = now
	}
	s.safePoints++
	return want, keep
}

// answerThrow carries out the pending throw, unless it is void or the task is already unwinding:
// strand.throw in unwind.go panics. Called under the loop's lock, which it releases.
func (s *strand) answerThrow(now int64) {
	if s.lent.Load() {
		// once the throw has arrived, the task must come back for a slot
		s.requests.Store(wantThrow | wantProbe)
	}
	p := s.due()
	throws := p != nil && !goroutine.Unwinding()
	if throws {
		p.flying = true
		// so that the next safe point throws again if the throw is swallowed
		s.raise(now + flight - raisedFor)
	} else {
		s.raisedAt = now - raisedFor // so that repeat need not wait
	}
	s.loop.unlock()
	s.loop.rt.timer.WakeAt(now + grace) // raise the word again until the throw has arrived
	if throws {
		s.throw(p)
	}
}

// askDriver is a safe point on the coroutine. If the task that waits for the iterator is asked for
// something, and the iterator's own stack does not mask the safe point, the task's goroutine
// answers.
func (p *pulling) askDriver() {
	s := p.task()
	if s == nil || p.busy || !s.asked() {
		return
	}
	p.busy = true
	w := walk{s: s, held: heldLines()}
	w.up()
	if p.busy = false; w.by != "" || w.locks != nil || w.cleansUp || w.byHand && s.spares(&w) {
		s.met.Store(patienceOfPolls)
		return
	}
	if !p.ask() {
		panic(errStopped)
	}
}

// task returns the strand of the task that waits for the iterator, perhaps through other iterators.
func (p *pulling) task() *strand {
	for p != nil {
		g := p.driver.Load()
		if s := strandOn(g); s != nil || g == 0 {
			return s
		}
		p = pullingOf(g)
	}
	return nil
}
