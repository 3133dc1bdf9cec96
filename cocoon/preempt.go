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

// SafePoint is a place where the calling task may be preempted: switched out for another task, or
// thrown into. A throw unwinds the task, as a panic with a *PreemptedError, up to the next Section,
// Run or Go. Call SafePoint in loops that may run long, where the task's data are consistent and no
// lock is held. Inside a callback from C, and under a lock that code from cocoon build is known to
// hold, SafePoint does nothing: see docs/safepoints.md. Without a task in ctx it is the poll of
// package safepoint, for the task of its goroutine, if there is one. Cost: about 1.5 ns (bench:
// poll) while no request is pending for any task. The cost includes the breath (see Config.Breath).
func SafePoint(ctx context.Context) {
	if safepoint.Raised() {
		answerFor(ctx)
	} else if t, ok := ctx.(*taskContext); ok && t.strand.breath.left.poll() {
		if s := strandOf(ctx); s != nil {
			s.breathe()
		}
	}
}

// answerFor is the slow path of SafePoint. It is a separate function so that SafePoint is inlined.
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
	} else if p := pullingOf(goroutine.ID()); p != nil {
		p.askDriver()
	}
}

// answer handles the requests to the task. It returns when the task may go on, or panics with a
// throw. If the task has no request, the word is raised for another task, and that task's thread
// may be waiting for this core.
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

// asked reports whether the task has a request, or must ask for a slot itself.
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
			// once the throw has arrived, the task must come back for a slot
			s.requests.Store(wantThrow | wantProbe)
		}
		p := s.due()
		throws := p != nil && !goroutine.Unwinding()
		if throws {
			p.flying = true
			// so that the next safe point throws again if the throw is swallowed
			s.raise(now + flight - hush)
		} else {
			s.raisedAt = now - hush // so that nag need not wait
		}
		l.unlock()
		l.rt.timer.WakeAt(now + grace) // raise the word again until the throw has arrived
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
		l.deliver(now) // to the next holder, which replaces this one in the record
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

// throwRequest is a pending throw.
type throwRequest struct {
	err     *PreemptedError
	section uint64        // the section that the throw is for; 0: the task
	at      int64         // time of the throw
	overdue bool          // the context was ended early, see insist; guarded by the loop's lock
	flying  bool          // it is unwinding the task, or has; guarded by the loop's lock
	by      *Registration // the policy that threw; nil: not a policy
	told    atomic.Bool   // the throw was logged
	late    *time.Timer   // ends the context of a task that unwinds slowly; owned by the task's goroutine
}

// unwinds is how long a task may unwind before its context ends. Until then a deferred Rollback has
// a context that works. After that a deferred wait for goroutines that wait for the context comes
// to an end.
const unwinds = 100 * time.Millisecond

// due returns the throw to carry out, or nil if its section has ended meanwhile. Called under the
// loop's lock.
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

// throw unwinds the calling task. The error belongs to one task, so only its goroutine completes it
// here, but other goroutines may already read it as the cause of the task's context.
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

// landed records that the throw in flight, if there is one, has reached its boundary or is void.
// Called by the task's goroutine.
func (s *strand) landed() {
	if p := s.throwing; p != nil {
		s.throwing = nil
		p.late.Stop()
	}
}

// endLate ends the context for a throw that has been unwinding t for long. The strand may have
// another task by now, but sections of a strand are numbered, and a number is never used twice.
func (s *strand) endLate(t *Task, p *throwRequest) {
	s.loop.lock()
	section := p.section
	s.loop.unlock()
	s.endFor(t, section, p.err)
}

// endFor ends the context that a throw ends: the section's, if it has its own, or the task's.
func (s *strand) endFor(t *Task, section uint64, err *PreemptedError) {
	if section == 0 {
		t.endContext(err)
	} else {
		s.sections.endContext(section, err)
	}
}

// postThrow asks the task to unwind. A pending throw stays, and the new one is dropped. The throw
// ends the context of the task, or of the section that will catch it, when it has arrived. It ends
// the context earlier if the task does not respond, because code that waits for the context does
// not poll: at once if the task does not run, or after grace (see nag). A throw into a section
// never ends the task's context. Called under the loop's lock.
func (s *strand) postThrow(err *PreemptedError, section uint64, now int64) bool {
	if s.pending != nil {
		return false
	}
	s.pending = &throwRequest{err: err, section: section, at: now}
	s.post(wantThrow, now)
	if !s.onSlot() {
		s.insist()
	}
	s.loop.rt.timer.WakeAt(now + grace) // in case the task does not respond
	return true
}

// dismiss discards a throw that has arrived at its section, or will not arrive. The task goes on,
// and policies may throw again. Called under the loop's lock.
func (s *strand) dismiss() {
	s.pending = nil
	s.unpost(wantThrow)
	s.loop.arm(s, notify.Now())
}

// insist ends the context for a throw that the task will not handle soon, because the task may be
// waiting for the context. A throw in flight gets more time, see throw. Called under the loop's
// lock.
func (s *strand) insist() {
	if p := s.pending; p != nil && !p.overdue && !p.flying {
		s.persist(p)
	}
}

// persist is insist for a throw. The context ends on another goroutine, because that runs derived
// contexts and functions that wait for the context, and the caller holds a lock. It has a frame of
// its own, because most tasks block without it, and each has a stack.
//
//go:noinline
func (s *strand) persist(p *throwRequest) {
	p.overdue = true
	p.tell(func() string { return "at no safe point so far; its context has ended" })
	// In a bubble the context ends after the task has unwound, because the caller may be outside of
	// the bubble.
	if t := s.task; !s.bubbled {
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

// Cancel asks the task and its children to end. A task that waits for its first slot never starts.
// A task that has started is thrown into at its next safe point, through all sections, and its
// context ends now. Cancelling a task that has ended has no effect on the task itself, but reaches
// its children as long as they belong to it, see Task.Stack.
func (t *Task) Cancel() { t.cancel("cancelled", ErrCancelled) }

// cancel throws into t and its children, and ends their contexts. The throw into t is posted before
// a child unwinds: otherwise t, woken by the child's end, would take that for a failure of the
// child alone. The context of t ends last, so the children are thrown into whatever they wait for.
func (t *Task) cancel(reason string, cause error) {
	end, inside := t.doom(reason, cause)
	t.cancelChildren(cause)
	if inside { // otherwise the task's own goroutine does it, at its safe point
		t.endContext(end)
	}
	t.cancelChildren(cause) // children started meanwhile
}

// doom posts the throw that cancels t, or takes t out of the queue. It returns the cause with which
// the context of t is to end, and whether the caller may end it. It calls no application code.
func (t *Task) doom(reason string, cause error) (end error, inside bool) {
	l := t.strand.loop
	l.lockAll()
	defer l.unlock()
	end, inside = cause, true
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
	return end, inside
}

func (t *Task) cancelChildren(cause error) {
	for _, c := range t.Children() {
		c.cancel("cancelled with its parent", cause)
	}
}

// throwToTheEnd posts a throw that ends the task, and replaces a throw into a section. It returns
// the throw that ends the task, which may be an earlier one. Called under the loop's lock.
func (s *strand) throwToTheEnd(err *PreemptedError, now int64) *PreemptedError {
	if s.pending == nil || s.pending.section != 0 {
		s.pending = nil
		s.postThrow(err, 0, now)
	}
	return s.pending.err
}
