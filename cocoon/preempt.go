package cocoon

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/safepoint"
)

func init() { safepoint.Attach(answer) }

// SafePoint is a place where the calling task may be preempted: switched out for another, or thrown
// into, which unwinds it as a panic with a *PreemptedError up to the next Section, Run or Go. Call
// it in loops that may run long, where the task's data are in order and no lock is held. Inside a
// callback from C, and under a lock that code from cocoon build is seen to hold, it is passed over:
// see docs/safepoints.md. Without a task in ctx it is the poll of package safepoint: for the task
// of its goroutine, if there is one. Cost: about 1.5 ns (bench: poll), because it also keeps the
// breath (see Config.Breath), unless something is asked of some task.
func SafePoint(ctx context.Context) {
	if safepoint.Raised() {
		answerFor(ctx)
	} else if t, ok := ctx.(*taskContext); ok && t.strand.breath.left.poll() {
		if s := strandOf(ctx); s != nil {
			s.breathe()
		}
	}
}

// answerFor is the slow path of SafePoint. It stays out of line, so that SafePoint is inlined.
//
//go:noinline
func answerFor(ctx context.Context) {
	if s := strandOf(ctx); s != nil {
		s.answer()
		return
	}
	answer()
}

// answer is the slow path of every poll of the process.
func answer() {
	if holdsLock() {
		return
	}
	if s := strandOfGoroutine(); s != nil {
		s.answer()
	}
}

// answer does what is asked of the task; it returns when the task may go on, or panics with a
// throw. When nothing is asked of it the word is up for another, and that one's thread may be
// waiting for just this core.
func (s *strand) answer() {
	if !s.asked() {
		s.breathe()
		return
	}
	for s.asked() {
		if s.blocked {
			return
		}
		o := s.look()
		if o.masked || o.cleansUp && o.asked == wantThrow && !o.lent {
			s.met.Store(true)
			return
		}
		if !s.answerOnce(o) {
			return
		}
	}
}

// asked reports whether something is asked of the task, or it has to ask for a slot itself.
func (s *strand) asked() bool { return s.requests.Load() != 0 || s.lent.Load() && !s.aside() }

// answerOnce takes the requests and reports whether the task was parked meanwhile, so that there
// may be new ones; or there are some that it has not looked for. A throw stays for later, with the
// word up, while the task cleans up.
func (s *strand) answerOnce(o outlook) (again bool) {
	l := s.loop
	l.lock()
	now := notify.Now()
	if s.parked.Load() {
		l.surface(s, now)
	}
	if !o.stands(s) {
		l.unlock()
		return true
	}
	want := s.requests.Load()
	if want != 0 {
		l.stats.toSafePoint.add(now - s.postedAt)
	}
	keep := want & wantThrow
	if want&wantSwitch != 0 && now < s.core.Immune() {
		keep |= wantSwitch // for later
	}
	s.endGap(now)
	s.requests.Store(keep)
	s.quiet()
	s.lastSafe, s.pause = now, 0
	s.safePoints++
	if want&wantThrow != 0 && !o.cleansUp {
		if s.lent.Load() {
			s.requests.Store(wantThrow | wantProbe) // when the throw has arrived it must come back for a slot
		}
		p := s.due()
		throws := p != nil && !goroutine.Unwinding()
		if throws {
			p.flying = true
			s.raise(now + flight - hush) // so that, swallowed, it is thrown again at the next safe point
		} else {
			s.raisedAt = now - hush // so that nag need not wait
		}
		l.unlock()
		l.rt.timer.WakeAt(now + grace) // the word is raised again until the throw has arrived
		if throws {
			s.throw(p)
		}
		return false
	}
	switch {
	case s.lent.Load():
		s.dropLent()
		l.gatherOne()
		granted := l.core.Unblock(&s.core, now)
		if granted {
			l.seat(s, now)
		}
		if granted || l.lendTo(s, now) {
			l.unlock()
			return true
		}
		l.returning(s, now)
	case want&wantSwitch != 0 && l.core.Suspend(&s.core, now):
		l.deliver(now) // to its successor, which is recorded over it
	default:
		if keep&wantThrow != 0 {
			s.raise(now)
		}
		l.unlock()
		return false
	}
	lookAt := l.lookAt
	l.unlock()
	l.armLook(now, lookAt)
	<-s.token()
	return true
}

// throwRequest is a throw on its way.
type throwRequest struct {
	err     *PreemptedError
	section uint64        // the section it was made for; 0: the task
	at      int64         // when it was made
	overdue bool          // the context was ended, for the task does not answer; guarded by the loop's lock
	flying  bool          // it unwinds the task, or did; guarded by the loop's lock
	by      *Registration // the policy that threw; nil: it was none
	told    atomic.Bool   // it was logged
	late    *time.Timer   // ends the context of a task that unwinds for long; the task's goroutine's
}

// unwinds is how long a task may unwind before its context ends. Until then a deferred Rollback has
// a context that works; and a deferred wait for goroutines that wait for the context comes to an
// end afterwards.
const unwinds = 100 * time.Millisecond

// due returns the throw to be carried out, or nil when its section has ended meanwhile. Called
// under the loop's lock.
func (s *strand) due() *throwRequest {
	p := s.pending
	if p.section != 0 && !s.sections.has(p.section) {
		s.landed()
		s.dismiss()
		s.loop.stats.void.Add(1)
		return nil
	}
	return p
}

// throw unwinds the calling task. The error goes to one task, so it is completed here alone; others
// may be reading it already, as the cause of the task's context.
func (s *strand) throw(p *throwRequest) {
	err := p.err
	if err.frames.Load() == nil {
		pcs := make([]uintptr, 64)
		pcs = pcs[:runtime.Callers(3, pcs)]
		err.frames.Store(&pcs)
	}
	if p.late == nil {
		t := s.task
		p.late = time.AfterFunc(unwinds, func() { s.endLate(t, p) })
	}
	s.throwing = p
	p.tell(err.Where)
	panic(err)
}

// landed notes that the throw in flight, if there is one, has come to its boundary or is void, on
// the task's goroutine.
func (s *strand) landed() {
	if p := s.throwing; p != nil {
		s.throwing = nil
		p.late.Stop()
	}
}

// endLate ends the context for a throw that has unwound t for long. The strand may have another
// task by now, but the sections of a strand are numbered, and no number comes twice.
func (s *strand) endLate(t *Task, p *throwRequest) {
	s.loop.lock()
	section := p.section
	s.loop.unlock()
	s.endFor(t, section, p.err)
}

// endFor ends the context that a throw ends: that of the section, if it has one, or of the task.
func (s *strand) endFor(t *Task, section uint64, err *PreemptedError) {
	if section == 0 {
		t.endContext(err)
	} else {
		s.sections.endContext(section, err)
	}
}

// postThrow asks the task to unwind; the first throw stays. The context of the task, or of the
// section that will catch it, ends when that is over; earlier if the task does not answer, for code
// that waits for the context does not: at once if it does not run, or after grace (see nag). A
// throw into a section never ends the task's. Called under the loop's lock.
func (s *strand) postThrow(err *PreemptedError, section uint64, now int64) bool {
	if s.pending != nil {
		return false
	}
	s.pending = &throwRequest{err: err, section: section, at: now}
	s.post(wantThrow, now)
	if !s.onSlot() {
		s.insist()
	}
	s.loop.rt.timer.WakeAt(now + grace) // in case it is not answered
	return true
}

// dismiss takes back a throw that has arrived at its section, or will not arrive: the task goes on,
// and policies may throw again. Called under the loop's lock.
func (s *strand) dismiss() {
	s.pending = nil
	s.unpost(wantThrow)
	s.loop.arm(s, notify.Now())
}

// insist ends the context for a throw that will not be answered soon: the task may be waiting for
// just that. One that unwinds the task has time for it, see throw. Called under the loop's lock.
func (s *strand) insist() {
	if p := s.pending; p != nil && !p.overdue && !p.flying {
		s.persist(p)
	}
}

// persist is insist for a throw. The context ends on another goroutine: contexts that others made,
// and functions that wait for this one, run then, and the caller holds a lock. It has a frame of
// its own, for most tasks block without one, and each has a stack.
//
//go:noinline
func (s *strand) persist(p *throwRequest) {
	p.overdue = true
	p.tell(func() string { return "at no safe point so far; its context has ended" })
	if t := s.task; !s.bubbled { // else the caller may be outside of its bubble: the context ends when the task has unwound
		go s.endFor(t, p.section, p.err)
	}
}

// preempted makes the error of a throw into the task. Called under the loop's lock.
func (s *strand) preempted(policy, reason, section string, cause error, now int64) *PreemptedError {
	return &PreemptedError{
		Policy: policy, Reason: reason, Section: section, Cause: cause, Started: s.task.Status() != Starting,
		Task: s.task.Path(), Running: time.Duration(s.core.Ran(now)),
	}
}

// Cancel asks the task to end, and its children: a task that waits for its first slot never starts,
// another is thrown into at its next safe point, through all sections, and its context ends now.
// Cancelling a task that has ended does nothing to it; its children it reaches as long as they are
// its own, see Task.Stack.
func (t *Task) Cancel() { t.cancel("cancelled", ErrCancelled) }

func (t *Task) cancel(reason string, cause error) {
	t.cancelChildren(cause) // before their contexts end with this one's: so they are thrown into, whatever they wait for
	l := t.strand.loop
	l.lockAll()
	end, inside := cause, true
	if s := t.strand; t.known {
		inside = !s.bubbled || notify.Bubbled()
		now := notify.Now()
		err := s.preempted("", reason, "", cause, now)
		if !s.withdraw(err, now) {
			err = s.throwToTheEnd(err, now)
		}
		end = err
	} else if t.Status() == Starting {
		t.doomed = true
	}
	l.unlock()
	if inside { // else the task's own goroutine does it, when it answers
		t.endContext(end)
	}
	t.cancelChildren(cause) // those that were started meanwhile
}

func (t *Task) cancelChildren(cause error) {
	for _, c := range t.Children() {
		c.cancel("cancelled with its parent", cause)
	}
}

// throwToTheEnd posts a throw that ends the task, before any throw into a section. It returns the
// one that ends it, which is an earlier one if there is. Called under the loop's lock.
func (s *strand) throwToTheEnd(err *PreemptedError, now int64) *PreemptedError {
	if s.pending == nil || s.pending.section != 0 {
		s.pending = nil
		s.postThrow(err, 0, now)
	}
	return s.pending.err
}
