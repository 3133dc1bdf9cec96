package cocoon

import (
	"sync"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/internal/sketch"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// Loop is a queue of tasks and a number of slots: at most that many of its tasks run at once. With
// one slot it is the classic event loop: its tasks are atomic towards each other between safe
// points. All methods are safe for concurrent use.
type Loop struct {
	rt    *Runtime
	name  stubs.NameID
	cfg   LoopConfig
	first bool      // the default loop
	pool  sync.Pool // of *strand

	slots  []slot
	usable atomic.Int32 // slots that take new tasks, the first ones; written under the loop's lock

	// A task that gets a slot reads these two, see arm.go.
	leads  atomic.Pointer[leads] // nil: there are no time policies. Replaced under the lock
	tickAt atomic.Int64          // when the time policies are due; the timer fires by then
	ticked atomic.Int64          // when the timer last looked at policies that may throw, see missed.go

	wanted   atomic.Bool // a task waits for a slot; written under the lock, see rest.go
	suspends atomic.Bool // a task is suspended; written under the lock, see brisk.go
	minds    atomic.Bool // a policy minds which tasks hold slots; written under the lock, see brisk.go

	guard     loopLock // guards what follows, down to hub
	core      *sched.Core
	live      *strand // those with a task, a list
	closed    bool
	endings   []ending // throws that may end a context, see grace.go
	endAt     int64    // when to look at them
	endedAt   int64    // when that was last done
	absent    absent   // started tasks that lost their slots without giving them up
	view      view     // what policies see, filled again for each evaluation
	guarded   bool     // a policy listens to tasks that arrive, start or exit
	busy      int64    // how often a task got a slot that was not open, or ran on without one
	contended bool     // a task waited or was suspended since the last tick

	lookAt, lookEvery int64     // when holders are looked at again, and the interval; see parked.go
	lookBusy, lentAt  int64     // busy at the last look; when a look last found a holder waiting
	sweepAt, movedAt  int64     // when tasks without a slot are looked at next, 0: never; when one last changed
	nextParked        int       // the parked task that was looked at last
	aside             []*strand // tasks that deliver is about to set aside
	setting           bool      // setAll runs
	asks              *strand   // which task looks for a slot just now, see lendTo

	survey  survey
	usage   usage
	meter   *meter                   // nil: no policy reads what it measures
	tenants map[stubs.NameID]*tenant // that have an account

	hub          notify.Hub[*bound] // the policies by event; used under the loop's lock
	contextReads atomic.Uint32      // what to read on arrival; set under the loop's lock
	stats        loopStats
}

// ending is a throw that ends the context of its task if the task does not respond in time.
type ending struct {
	s *strand
	p *throwRequest
}

// absent holds the tasks of a loop that have started and hold no slot, although they did not give
// one up. Guarded by the loop's lock, except n.
type absent struct {
	lent   []*strand           // running without a slot: stalled, or back from an unannounced wait
	parked []*strand           // in an unannounced wait, as far as the loop knows
	byG    map[uintptr]*strand // both, by goroutine; strand.sameG links the tasks of one goroutine
	n      atomic.Int32        // their number
	extras int                 // how many of lent are extra tasks, see extra.go
}

// chosen is a lead for the tasks in the selectors and, if names is not nil, with one of the names.
type chosen struct {
	in    []*selector
	names []stubs.NameID
	lead  byKind
}

// sectionKey is the key of task.sections: a name, or a pattern of names.
type sectionKey struct {
	name string
	in   *selector // nil: the key is a name
}

// classAccount holds a loop's figures for the tasks of one name, for policies that read class.*.
type classAccount struct {
	sched.Tally
	id       stubs.NameID
	uses     int // arrivals of its tasks, halved from time to time
	running  mean
	waited   mean
	sketches []*sketch.Sketch // by the meter's series; nil before the first value
}

// leads are the times for which a loop's policies certainly do nothing to its tasks. When a task
// gets a slot, the timer has to fire that much later, and not before. So a task that ends sooner
// wakes no thread: the next task finds, by an atomic load, that the timer is already set for an
// earlier time. leads are immutable once in force.
type leads struct {
	general byKind     // for tasks of all names
	named   namedLeads // for tasks of names in policies, if less than general
	chosen  []chosen   // for tasks that policies refer to by patterns
	some    bool       // there are named ones
	aged    bool       // a policy's clock may be ahead of the task's running time
	ends    bool       // a policy may throw into a task
	// the least of all these; Never: no time policy can act on a task
	least   int64
	waiting int64        // for policies that refer to the loop: from when a task waits
	unmet   []sectionKey // sections that no task has opened so far
	of      int          // the number of policies from which they were computed
}

// namedLeads are leads by the names of tasks, in parts: a change copies the parts that it is about. A
// program may register thousands of limits one by one.
type namedLeads [64]map[stubs.NameID]byKind

// byKind is a time for each kind of task, in ns. Never means that no policy can act on a task of
// the kind.
type byKind [4]int64

// meter holds the measurements of a loop that its policies read: figures per class, quantiles,
// rates of arrivals. A loop has a meter only while a policy reads one of these, and the meter
// measures only these. It is guarded by the loop's lock. Most figures count every task, so no slot
// is open.
type meter struct {
	wants
	loop    []*sketch.Sketch // by series; nil for a series of classes
	arrived pace
	classes map[stubs.NameID]*classAccount
	rest    *classAccount // of the names without their own account
	calls   int           // arrivals since the uses of all accounts were last halved
	crowded int64         // names that found no room
}

// wants lists the figures that policies read.
type wants struct {
	class  []*bound // policies that read class.* of matching tasks
	rates  bool     // loop.rate or tenant.rate
	costs  bool     // queue.cost
	series []series
}

// series is a stub with quantiles over one window, and the quantiles that policies read of it.
type series struct {
	stub      stubs.ID
	window    int64
	quantiles []float64
}

// usage is the share of a loop's slot time in use, averaged over about 100 ms, or over the time
// since the last reading if that time is longer.
type usage struct {
	share float64
	asOf  int64
	busy  int64
}

// loopStats are a loop's counters.
type loopStats struct {
	refused refusals
	stalls  atomic.Int64
	waits   atomic.Int64
	starved atomic.Int64

	starvedLogs logLimit
	void        atomic.Int64
	reports     logLimit // limits reports of stalls

	// Guarded by mu.
	done        int64         // tasks that have ended, except tasks in open slots
	account     sched.Account // of the same tasks
	queueing    histogram     // of the same tasks
	toSafePoint histogram
	busyTime    int64 // the last BusyTime
}

// tenant is the account of a tenant on one loop. It is guarded by the loop's lock: an account for
// all loops would need a lock shared by all of them.
type tenant struct {
	sched.Group
	named
	thrown  int64
	ran     int64 // the last TenantStats.Running
	arrived pace  // counted while a policy reads tenant.rate
}

// defaultLoop is the name of the default loop.
const defaultLoop = "default"

// Name returns the loop's name; the default loop is called "default".
func (l *Loop) Name() string { return l.cfg.Name }

// wants reports whether some policy is evaluated on the event.
func (l *Loop) wants(e stubs.Event) bool { return len(l.hub.Listeners(uint16(e))) > 0 }

func (x series) sketch() *sketch.Sketch { return sketch.New(x.window, x.quantiles) }

// eachTask reports whether the loop must handle every task under its lock.
func (w *wants) eachTask() bool { return len(w.class) > 0 || w.rates || len(w.series) > 0 }

// lends reports whether the loop lends a slot as soon as its task waits unannounced.
func (l *Loop) lends() bool {
	return !l.cfg.Exclusive && (l.first || len(l.slots) > 1)
}

// threw counts a throw into a task of t, or the refusal of one. t may be nil. Called under the
// loop's lock.
func (t *tenant) threw() {
	if t != nil {
		t.thrown++
	}
}
