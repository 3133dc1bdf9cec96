package cocoon

import (
	"context"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/safepoint"
)

// strand is the live part of a task: what the scheduler needs while it waits and runs. Strands are
// reused; strand.task says whose it is, and who wants something of a task compares under the loop's
// lock.
type strand struct {
	loop *Loop
	wake atomic.Pointer[chan struct{}] // see token

	number  uint32 // see mark.go
	through func(context.Context, taskFunc) error

	// Guarded by the loop's lock.
	core       sched.Task
	task       *Task
	handle     *Handle       // of Go; nil for Run
	prev, next *strand       // in loop.live
	pending    *throwRequest // with the throw request
	withdrawn  error         // why it was taken out of the queue
	would      []wouldBe     // what observing policies would have decided about the task
	tenant     *tenant       // whose task it is; nil when nobody keeps account of that
	inCall     bool          // the last look found it in a system call
	ran        bool          // the last sweep found it running
	raised     bool          // the process-wide word is up for this strand
	bubbled    bool          // its goroutine is in a bubble of testing/synctest; written before the task has a slot
	sampled    int64         // until when its running was checked, see ran.go
	cpuAt      int64         // the process's processor time then; 0: there was no sample since it got its slot
	ranAt      int64         // its own running time then

	foundWaiting bool         // the last sample found it waiting
	absentAt     int          // its place in that list, or in loop.absent.lent
	sameG        *strand      // the next of this goroutine in loop.absent.byG
	postedAt     int64        // when the oldest unanswered request was posted
	raisedAt     int64        // when it was raised; later, for a throw on its way
	pause        int64        // until the word is raised again, growing while it does not answer
	lastSafe     int64        // last answer
	gap          *gapProbe    // nil: gaps are not measured
	stall        *stallReport // its slot was lent, and that is to be reported; nil: not
	lateGap      *endedGap    // it ended while its stack was being taken; one at a time is
	safePoints   int64
	heard        heard
	strain       strain

	firm, quick claim // on a slot: of a task that the core knows, and of one in an open slot

	requests atomic.Uint32 // written under the loop's lock
	lent     atomic.Bool   // it runs, or waits, without a slot: in loop.absent; written under the loop's lock
	inBlock  atomic.Bool   // it stands aside, and is inside Block; written by the task's goroutine
	met      atomic.Bool   // it has passed a poll that was masked, since the word was raised
	parked   atomic.Bool   // it waits: in loop.absent.parked; written under the loop's lock
	g        atomic.Uintptr
	rest     atomic.Int64 // see rest.go
	restedAt atomic.Int64 // when its last rest ended
	runBase  atomic.Int64 // now - runBase = running time, while it runs; written under the loop's lock

	// Owned by the task's goroutine.
	throwing *throwRequest // in flight, or swallowed
	outer    *strand       // the task on the same goroutine that this one runs inside of
	inner    *strand       // the task on the same goroutine that runs inside this one
	owes     *strand       // the tasks on the same goroutine that gave their slots up for this one, a list
	owedNext *strand       // in that list
	sections sectionStack  // written by the goroutine, read by policies
	inherits bool          // it runs in outer's slot
	blocked  bool          // inside Block, or waiting for inner to end
	returned bool
	breath   breather
	at       int   // the open slot that it took last
	cgoSeen  int64 // the process's calls of C when its stack was last found free of callbacks, see look
	memory   memory
}

func newStrand(l *Loop) *strand {
	s := &strand{loop: l}
	s.core.Owner, s.firm.strand, s.quick.strand = s, s, s
	s.mark()
	if l.rt.gaps != nil {
		s.gap = new(gapProbe)
	}
	return s
}

// token returns the channel by which the slot is handed over to a task that waits. It is made when
// the first does.
func (s *strand) token() chan struct{} {
	if s.wake.Load() == nil {
		made := newWake()
		s.wake.CompareAndSwap(nil, &made)
	}
	return *s.wake.Load()
}

// idle returns a strand for a task of l. The pool has no New, which would be called where the stack
// is deeper: a task that waits is to fit into the 2 KiB with which a goroutine begins.
func (l *Loop) idle() *strand {
	if s, ok := l.pool.Get().(*strand); ok {
		return s
	}
	return newStrand(l)
}

// newTask prepares a task that is about to arrive. What ctx knows of Cocoon the caller has looked
// up already: in a context of many layers that takes longer than all of this.
func (s *strand) newTask(ctx context.Context, up *Task, a *attrs, name string) *Task {
	t := s.taskOf(ctx, up, a, name)
	if up != nil {
		t.adopt()
	}
	s.core.Reset(Kind(t.class.kind.Load()))
	s.breath.begin()
	return t
}

// account returns the account so far. Called under the loop's lock.
func (s *strand) account(now int64) Account { return accountOf(s.core.Account(now), s.safePoints) }

// running returns the running time so far. Called under the loop's lock or by the task's goroutine
// while it runs.
func (s *strand) running(now int64) int64 {
	rested, _ := s.rested(now)
	return now - s.runBase.Load() - rested
}

// strandOf returns the strand that the calling goroutine runs for, if ctx leads to it: the
// innermost of those nested on this goroutine. A context that was handed to another goroutine leads
// nowhere there.
func strandOf(ctx context.Context) *strand { return TaskOf(ctx).here() }

// here returns the innermost strand of the calling goroutine, if t, which may be nil, is one of its
// tasks.
func (t *Task) here() *strand {
	// A task that has not ended owns its strand, so the strand's goroutine is the task's.
	if t == nil || t.ended() || t.strand.g.Load() != goroutine.ID() {
		return nil
	}
	s := t.strand
	for s.inner != nil {
		s = s.inner
	}
	return s
}

// Requests: what is wanted of a running task. All are posted and taken under the loop's lock:
//
//  1. Whoever decides (a policy, Cancel, the timer) locks the loop, compares strand.task, and
//     posts: the bit is set, and the process-wide word raised if the task runs.
//  2. The task's next poll sees the word, finds its strand by its goroutine, locks the loop, takes
//     the bits, lowers the word, and does what they say.
//  3. A task that leaves its slot lowers the word; the bits stay, and it looks at them when it has
//     a slot again.
//  4. The timer lowers the word when a task does not answer at once, and raises it again after a
//     pause, so that the polls of others stay cheap.
//  5. A throw's bit stays until the throw has arrived at its boundary: swallowed by a recover, it
//     is thrown again.
const (
	wantThrow uint32 = 1 << iota
	wantSwitch
	wantProbe // only to see whether the task passes safe points
	wantGap   // only to see how long it does not
)

// post asks for something. Called under the loop's lock.
func (s *strand) post(want uint32, now int64) {
	old := s.requests.Load()
	if old&want != 0 {
		return // asked already; the timer sees to it that it is heard
	}
	if old == 0 || s.audible() > now {
		s.postedAt = now
	}
	s.requests.Store(old | want)
	if s.parked.Load() {
		s.loop.surface(s, now) // it must be looked after as one that runs
	}
	if at := s.audible(); at > now {
		s.loop.rt.timer.WakeAt(at)
	} else if !s.raised && s.onSlot() {
		s.raise(now)
	}
}

// audible returns from when on the task can do what it is asked: a task that is to run undisturbed
// for a while does not switch before that is over, and if nothing else is asked it is not bothered.
// Called under the loop's lock.
func (s *strand) audible() int64 {
	if s.requests.Load() == wantSwitch {
		return s.core.Immune()
	}
	return 0
}

func (s *strand) onSlot() bool {
	st := s.core.State()
	return st == sched.Running || st == sched.Lent
}

func (s *strand) raise(now int64) {
	s.raised, s.raisedAt = true, now
	s.met.Store(false)
	safepoint.Raise()
}

// quiet lowers the word if it is up for s. Called under the loop's lock.
func (s *strand) quiet() {
	if s.raised {
		s.raised = false
		safepoint.Lower()
	}
}

// unpost takes requests back. Called under the loop's lock.
func (s *strand) unpost(want uint32) {
	left := s.requests.Load() &^ want
	s.requests.Store(left)
	if left == 0 {
		s.quiet()
	}
}
