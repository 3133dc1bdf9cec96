package cocoon

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// strand is the live part of a task: the state that the scheduler needs while the task waits and
// runs. Strands are reused. Before acting on a task, check strand.task under the loop's lock. Its
// 696 bytes and the allocator's 8 fill a size class: the order of small fields matters, and fields
// that few tasks need are behind a pointer (TestStrandFillsItsSizeClass).
type strand struct {
	loop *Loop
	wake atomic.Pointer[chan struct{}] // see token

	number  uint32       // see mark.go
	slow    atomic.Int32 // how many more brief calls give the slot up, see brief.go
	through func(context.Context, taskFunc) error

	// Guarded by the loop's lock.
	core       sched.Task
	task       *Task
	handle     *Handle       // for Go; nil for Run
	prev, next *strand       // in loop.live
	pending    *throwRequest // the throw, while one is requested
	withdrawn  *withdrawal   // nil: the task was not taken out of the queue, nor refused
	would      *[]wouldBe    // what observing policies would have decided about the task; nil: nothing yet
	tenant     *tenant       // the task's tenant; nil if no tenant has an account
	class      *classAccount // the account of its class; nil if no policy reads class.*
	unseated   bool          // it waits for its first slot, and how long is measured
	inCall     bool          // the last look found it in a system call
	ran        bool          // the last sweep found it running
	raised     bool          // the process-wide word is raised for this strand
	lacksP     bool          // see setLacksP
	polled     bool          // its last response was at a poll that does not count, see checkStall
	counted    bool          // its task has ended, and Stats counts it until its parent has forgotten it; see release
	bubbled    bool          // its goroutine is in a bubble of testing/synctest; written before the task has a slot
	inherits   bool          // it runs in outer's slot
	absent     bool          // an observing policy would have refused its task

	// Only the task's goroutine writes these five, without the lock.
	inserted bool  // its last safe point was a poll of cocoon build
	blocked  bool  // inside Block, or waiting for inner to end
	returned bool  // its function has returned, and was not unwound
	unshown  bool  // it has waited, and must tell the witness
	rests    tally // Blocks in which it kept its slot; others read it

	sampled    int64        // until when its running time was checked, see ran.go
	checks     *checks      // nil before the timer first checks the task since it got its slot
	absentAt   int32        // its index in the list of loop.absent that holds it
	met        atomic.Int32 // for how many more periods of raisedFor the word stays raised, see polls
	sameG      *strand      // the next strand of this goroutine in loop.absent.byG
	postedAt   int64        // when the oldest pending request was posted
	raisedAt   int64        // when the word was raised; later, for a throw in flight
	pause      int64        // until the word is raised again, growing while the task does not respond
	lastSafe   int64        // time of the last safe point that handled a request
	gap        *gapProbe    // nil: gaps are not measured
	stall      *stallReport // its slot was lent, and the stall will be reported; nil: no report
	switching  *ruling      // why it is asked to switch, while the decisions are watched; else nil
	safePoints int64
	heard      heard

	firm, quick claim // claims on a slot: for a task that the core knows, and for a task in an open slot

	requests atomic.Uint32 // written under the loop's lock
	lent     lending       // it runs or waits without a slot, in loop.absent; written under the loop's lock
	inBlock  atomic.Bool   // it stands aside, and is inside Block; written by the task's goroutine
	parked   atomic.Bool   // it waits: in loop.absent.parked; written under the loop's lock
	g        atomic.Uintptr
	rest     atomic.Int64 // see rest.go
	restedAt atomic.Int64 // when its last rest ended, or it got its slot
	runBase  atomic.Int64 // now - runBase = running time, while it runs; written under the loop's lock

	// Owned by the task's goroutine.
	throwing *throwRequest // in flight, or swallowed
	outer    *strand       // the task on the same goroutine in which this one is nested
	inner    *strand       // the task nested in this one on the same goroutine
	owes     *strand       // list of tasks on the same goroutine that gave up their slots for this one
	owedNext *strand       // next in that list
	sections sectionStack  // written by the goroutine, read by policies
	brief    atomic.Int32  // the inside.Brief that its rest is
	at       int16         // the open slot that it took last
	shares   int8          // how many of its last yields took long, in a row, up to sharedTimes
	breath   breather
	// since when brief calls have found tasks waiting for a slot, in µs, modulo 2^32; 0: the last
	// one found none
	keptFrom uint32
	// how long the task had run when it last lost its slot in a Block, in µs, modulo 2^32
	ranUntil uint32
	stacks   atomic.Pointer[stackMemory] // nil before it is first needed; other goroutines read only its stretch
	memory   memory
}

// lending says whether a task runs or waits without a slot, and whether it is an extra task, which
// needs none yet (extra.go).
type lending struct{ atomic.Uint32 }

const (
	lentSlot  = 1 + iota // it has lost its slot
	extraTask            // it waited for one, and goes on without
)

func (l *lending) Load() bool    { return l.Uint32.Load() != 0 }
func (l *lending) isExtra() bool { return l.Uint32.Load() == extraTask }

// breather keeps track of time for a task, at its safe points.
type breather struct {
	left countdown // safe points until the next reading of the clock

	// Owned by the task's goroutine.
	stride int32 // the value of left after the last reading
	looked int64 // time of the last reading; 0: none in this task
	base   int64 // strand.runBase at the last reading: it changes when the task pauses
	ran    int64 // how long the task has run since it paused, as far as its readings show

	last atomic.Int64 // when it last had its core back from a yield; stored by the task's goroutine
}

// diverted is the count of safe points that divert stores.
const diverted = -1 << 30

// divert makes the task's next SafePoint take the slow path, whether or not the word is raised. If
// the task passes a SafePoint at the same moment, divert may have no effect, and the task looks at
// its requests when it next reads the clock. Called under the loop's lock, for a request to the
// task.
func (b *breather) divert() { b.left.set(diverted) }

// wasDiverted reports whether divert has set the count, so that it does not count safe points.
func (b *breather) wasDiverted() bool { return b.left.get() < diverted/2 }

// gapProbe measures gaps of a task: the time from a request to the task's next safe point. Guarded
// by the loop's lock.
//
// After a task has responded, it is asked again some time later, and the request stays posted until
// the task responds. So only gaps longer than the interval are sure to be found, which are the gaps
// that matter, and the polls in between cost no more than without Config.Gaps. If all polls took
// the slow path and recorded the time, every gap would be found, but the program would be so much
// slower that its gaps would not be representative.
type gapProbe struct {
	asked    int64 // 0: it has responded
	due      int64 // when it is asked again
	sampled  int64 // how long it had been silent when its stack was last taken; 0: not taken yet
	sampling bool  // its stack is being taken
	stack    []runtime.Frame
	same     int       // how many functions, from the outermost, all samples share
	deep     bool      // the stack is too deep: its outermost functions are missing
	late     *endedGap // a gap that ended while its stack was being taken
}

// endedGap is a gap to be recorded.
type endedGap struct {
	gapProbe
	at   int64 // when it ended
	task string
	end  []runtime.Frame // the poll's stack; empty at the task's end, or where it waits
}

// heard holds the values that the runtime has read from a task's context. The context is the
// caller's code: its methods may lock, wait or panic. So the runtime calls them on the task's own
// goroutine before the task has a slot, or on a separate goroutine, but never under a loop's lock
// and never on the timer's thread. Policies read the stored values, and no method is called for
// them: the channel suffices to see whether a context has ended.
//
// Guarded by the loop's lock, once the task has arrived.
type heard struct {
	read     uint32          // what was or is being read from the context
	ended    bool            // when the task arrived
	deadline int64           // on the clock of package notify; 0: unknown, notify.Never: none
	done     <-chan struct{} // nil: unknown, or the context never ends
}

// withdrawal is why a task was taken out of the queue, or refused before it got there.
type withdrawal struct{ why error }

// err returns the reason, or nil if there is no withdrawal.
func (w *withdrawal) err() error {
	if w == nil {
		return nil
	}
	return w.why
}

type taskFunc = func(context.Context) error

// wouldBe holds the decisions about a task that observing policies would have made.
type wouldBe struct {
	of       *Registration
	decision stubs.Decision
	until    int64 // the same decision counts again if it concerns something later
}

// stallReport is a report in preparation.
type stallReport struct {
	s     *strand
	task  string
	since int64 // when the task's silence began

	back chan struct{} // closed when the task has come back, after the fields below are set
	at   int64
	pcs  []uintptr // where it came back; without frames of its own at its end
}

// checks holds what the timer found when it checked a task that runs. Most tasks end or wait before
// the first check, and a waiting task keeps none. Guarded by the loop's lock.
type checks struct {
	cpuAt      int64 // the process's processor time at the last sample; 0: none since the task got its slot
	ranAt      int64 // the task's own running time then
	readAt     int64 // when the last sample with a reading of the processor time was taken; 0: none was
	putOffs    int   // how often the first sample was put off; the constant putOffs once it was taken
	until      int64 // when a first sample that was put off is due
	waitsSince int64 // since when every sample found it waiting; 0: the last sample did not
	looked     bool  // there was a sample that looked at its goroutine
	kept       bool  // its goroutine had not stopped running between the last two of them
	waited     bool  // the last sample found its goroutine waiting, or ready and back from a wait
	lostP      bool  // the last sample found its goroutine without the P on which it had run
	leaves     uint8 // how often its goroutine had stopped running then, see goroutine.Leaves
	newWait    bool  // it found the goroutine in a wait that the sample before had not found
	strain     strain

	// See keeps.
	keptSince, keptTell int64 // since when it keeps its slot in one wait, 0: it does not; when the log says so
	keptLeaves          uint8
}

// checked returns s.checks, and makes it if necessary. Called under the loop's lock.
func (s *strand) checked() *checks {
	if s.checks == nil {
		s.checks = &checks{}
	}
	return s.checks
}

// strain holds the results of looks at a task that holds its slot for long.
type strain struct {
	since  int64 // when the task got the slot
	rests  tally // strand.rests at the last look
	last   int64 // when the last counted look found it running
	times  int   // how many looks in a row have found it running
	lacked bool  // the last look found it without a P,
	leaves uint8 // after its goroutine had stopped running so many times
}

// throwRequest is a pending throw.
type throwRequest struct {
	err        *PreemptedError
	section    uint64        // the section that the throw is for; 0: the task
	at         int64         // time of the throw
	endsAt     endTime       // when it ends the context; guarded by the loop's lock
	endedEarly bool          // the context was ended, see endEarly; guarded by the loop's lock
	over       bool          // it is no longer pending; guarded by the loop's lock
	flying     bool          // it is unwinding the task, or has; guarded by the loop's lock
	by         *Registration // the policy that threw; nil: not a policy
	force      bool          // it passes all locks that deferred calls release, see passes
	// since when it waits for releases, see releaseGrace; later by the part of each pause between
	// polls that exceeds longestStep; stored by the task's goroutine
	waitsAt  atomic.Int64
	polledAt int64         // the last poll since then; owned by the task's goroutine
	late     atomic.Uint32 // whether it is so late that the log says why, see say
	// the task's running time when the next safe point was asked to say why; guarded by the loop's
	// lock
	ranBefore int64
	told      atomic.Bool // the throw was logged
	refused   int         // how often insist has seen it; owned by the task's goroutine
	returned  bool        // a call has returned it; owned by the task's goroutine
	// ends the context of a task that unwinds slowly; owned by the task's goroutine
	ends *time.Timer
}

// dropThrow makes the pending throw, if there is one, no longer pending. Called under the loop's
// lock.
func (s *strand) dropThrow() {
	if s.pending != nil {
		s.pending.over = true
		s.pending = nil
	}
}

// account returns the account so far. Called under the loop's lock.
func (s *strand) account(now int64) Account { return accountOf(s.core.Account(now), s.safePoints) }

// running returns the running time so far. Called under the loop's lock or by the task's goroutine
// while it runs.
func (s *strand) running(now int64) int64 {
	rested, _ := s.rested(now)
	return now - s.runBase.Load() - rested
}

// enlist makes the strand's task visible to searches for tasks. Called under the loop's lock.
func (s *strand) enlist() {
	l := s.loop
	s.task.known = true
	l.rt.tasks.Add(1)
	if s.prev, s.next = nil, l.live; l.live != nil {
		l.live.prev = s
	}
	l.live = s
}

// clock reads the clock for an arriving task, and records whether the task is in a bubble. Called
// by the task's goroutine.
func (s *strand) clock() (now int64) {
	now, s.bubbled = notify.Clock()
	return now
}

// rested returns how long the task has rested since its account was settled, and whether it rests
// now.
func (s *strand) rested(now int64) (d int64, rests bool) {
	if d, rests = s.rest.Load(), false; d < 0 {
		d, rests = max(0, d+now), true
	}
	return d, rests
}

// begin assigns the strand to t. Called under the loop's lock, or by the task's goroutine before
// any other goroutine knows the task.
func (s *strand) begin(t *Task) {
	s.task, s.pending, s.withdrawn = t, nil, nil
	s.safePoints = 0
}
