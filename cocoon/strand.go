package cocoon

import (
	"context"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/safepoint"
)

// strand is the live part of a task: the state that the scheduler needs while the task waits and
// runs. Strands are reused. Before acting on a task, check strand.task under the loop's lock. Its
// 760 bytes and the allocator's 8 fill a size class: the order of small fields matters
// (TestWaitingTaskNeedsLittle).
type strand struct {
	loop *Loop
	wake atomic.Pointer[chan struct{}] // see token

	number  uint32       // see mark.go
	slow    atomic.Int32 // for how many more of these it gives its slot up, see brief.go
	through func(context.Context, taskFunc) error

	// Guarded by the loop's lock.
	core       sched.Task
	task       *Task
	handle     *Handle       // for Go; nil for Run
	prev, next *strand       // in loop.live
	pending    *throwRequest // with the throw request
	withdrawn  error         // why the task was taken out of the queue
	would      []wouldBe     // what observing policies would have decided about the task
	tenant     *tenant       // the task's tenant; nil if no tenant has an account
	class      *classAccount // the account of its class; nil if no policy reads class.*
	unseated   bool          // it waits for its first slot, and how long is measured
	inCall     bool          // the last look found it in a system call
	ran        bool          // the last sweep found it running
	raised     bool          // the process-wide word is raised for this strand
	polled     bool          // its last response was at a poll that does not count, see checkStall
	bubbled    bool          // its goroutine is in a bubble of testing/synctest; written before the task has a slot
	inherits   bool          // it runs in outer's slot; the next three also belong to its goroutine
	inserted   bool          // its last safe point was a poll of cocoon build
	blocked    bool          // inside Block, or waiting for inner to end
	returned   bool
	sampled    int64 // until when its running time was checked, see ran.go
	cpuAt      int64 // the process's processor time then; 0: not sampled since it got its slot
	ranAt      int64 // its own running time then

	waitsSince int64        // since when every sample found it waiting; 0: the last sample did not
	absentAt   int32        // its index in the list of loop.absent that holds it
	met        atomic.Int32 // for how many more times hush the word stays raised, see polls
	sameG      *strand      // the next strand of this goroutine in loop.absent.byG
	postedAt   int64        // when the oldest pending request was posted
	raisedAt   int64        // when the word was raised; later, for a throw in flight
	pause      int64        // until the word is raised again, growing while the task does not respond
	lastSafe   int64        // time of the last safe point that handled a request
	gap        *gapProbe    // nil: gaps are not measured
	stall      *stallReport // its slot was lent, and the stall will be reported; nil: no report
	lateGap    *endedGap    // a gap that ended while its stack was being taken
	safePoints int64
	heard      heard
	strain     strain

	firm, quick claim // claims on a slot: for a task that the core knows, and for a task in an open slot

	requests atomic.Uint32 // written under the loop's lock
	lent     atomic.Bool   // it runs or waits without a slot, in loop.absent; written under the loop's lock
	inBlock  atomic.Bool   // it stands aside, and is inside Block; written by the task's goroutine
	parked   atomic.Bool   // it waits: in loop.absent.parked; written under the loop's lock
	g        atomic.Uintptr
	rest     atomic.Int64 // see rest.go
	restedAt atomic.Int64 // when its last rest ended
	runBase  atomic.Int64 // now - runBase = running time, while it runs; written under the loop's lock

	// Owned by the task's goroutine.
	throwing *throwRequest // in flight, or swallowed
	outer    *strand       // the task on the same goroutine in which this one is nested
	inner    *strand       // the task nested in this one on the same goroutine
	owes     *strand       // list of tasks on the same goroutine that gave up their slots for this one
	owedNext *strand       // next in that list
	sections sectionStack  // written by the goroutine, read by policies
	brief    atomic.Bool   // its rest is a brief call
	at       int32         // the open slot that it took last
	breath   breather
	// since when brief calls have found tasks waiting for a slot; 0: the last one found none
	keptFrom int64
	stacks   *stackMemory // nil before the first look that walks the stack
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

// token returns the channel through which the slot is handed to a waiting task. It is made at the
// first wait.
func (s *strand) token() chan struct{} {
	if s.wake.Load() == nil {
		made := newWake()
		s.wake.CompareAndSwap(nil, &made)
	}
	return *s.wake.Load()
}

// idle returns a strand for a task of l. The pool has no New function, because the stack would be
// deeper there: a waiting task should fit into the 2 KiB of a new goroutine's stack.
func (l *Loop) idle() *strand {
	if s, ok := l.pool.Get().(*strand); ok {
		return s
	}
	return newStrand(l)
}

// newTask prepares a task before it arrives. The caller passes the values from ctx, because it has
// already looked them up: in a context of many layers this takes longer than everything here.
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
// innermost of the strands nested on this goroutine. If a context is passed to another goroutine,
// it leads to no strand there.
func strandOf(ctx context.Context) *strand { return TaskOf(ctx).here() }

// here returns the innermost strand of the calling goroutine, if t is one of its tasks. t may be
// nil.
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

// Requests to a running task. All are posted and taken under the loop's lock:
//
//  1. The code that decides (a policy, Cancel, the timer) locks the loop, checks strand.task, and
//     posts the request: it sets the bit, and raises the process-wide word if the task runs.
//  2. The task's next poll sees the word, finds its strand by its goroutine, locks the loop, takes
//     the bits, lowers the word, and handles the requests.
//  3. A task that leaves its slot lowers the word. The bits stay, and the task handles them when it
//     has a slot again.
//  4. If the task does not respond at once, the timer lowers the word, and raises it again after a
//     pause, so that the polls of other tasks stay cheap.
//  5. The bit of a throw stays until the throw has arrived at its boundary: if a recover swallows
//     it, it is thrown again.
const (
	wantThrow uint32 = 1 << iota
	wantSwitch
	wantProbe // only to check whether the task passes safe points
	wantGap   // only to measure how long it does not
)

// post posts a request. Called under the loop's lock.
func (s *strand) post(want uint32, now int64) {
	old := s.requests.Load()
	if old&want != 0 {
		return // already posted; the timer repeats it
	}
	if old == 0 || s.audible() > now {
		s.postedAt = now
	}
	s.requests.Store(old | want)
	if s.parked.Load() {
		s.loop.surface(s, now) // it must be watched like a running task
	}
	if at := s.audible(); at > now {
		s.loop.rt.timer.WakeAt(at)
	} else if !s.raised && s.onSlot() {
		s.raise(now)
	}
}

// audible returns from when on the task can handle its requests. A task that runs undisturbed for a
// while does not switch before that time is over. Without another request, the word is not raised
// for it until then. Called under the loop's lock.
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
	s.met.Store(0)
	safepoint.Raise()
}

// quiet lowers the word if it is raised for s. Called under the loop's lock.
func (s *strand) quiet() {
	if s.raised {
		s.raised = false
		safepoint.Lower()
	}
}

// unpost withdraws requests. Called under the loop's lock.
func (s *strand) unpost(want uint32) {
	left := s.requests.Load() &^ want
	s.requests.Store(left)
	if left == 0 {
		s.quiet()
	}
}
