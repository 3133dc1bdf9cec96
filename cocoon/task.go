package cocoon

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/notify"
)

// Task is one piece of work, from its arrival to its end. Get the current one with TaskOf, or from
// a Handle. All methods may be called from any goroutine, at any time.
type Task struct {
	*origin
	rare   atomic.Pointer[rare]
	status atomic.Uint32 // a Status, and released
	doomed bool          // cancelled before it arrived; guarded by the loop's lock
	known  bool          // its loop's core knows it, and strand is its; guarded by the loop's lock
}

// rare is what few tasks need.
type rare struct {
	inner atomic.Pointer[cancelContext]

	mu       sync.Mutex
	kids     map[*Task]struct{} // the tasks started inside this one, while they live; guarded by mu
	watchers *watcher           // a list; guarded by mu
	hung     atomic.Int32       // how many of them were given another context than this task's own, made from it; written under mu
}

// rarely returns t.rare, made if there is none.
func (t *Task) rarely() *rare {
	if r := t.rare.Load(); r != nil {
		return r
	}
	t.rare.CompareAndSwap(nil, new(rare))
	return t.rare.Load()
}

// released is set in Task.status when the task and all its children have ended.
const released = 1 << 8

// Status is a task's place in its life (the component model's task states).
type Status uint32

const (
	Starting              Status = iota // arrived, not yet started
	Started                             // its function has been called
	Returned                            // its function has ended: by return, panic or Goexit
	CancelledBeforeStart                // refused, or cancelled while it waited: its function was never called
	CancelledBeforeReturn               // thrown into: it did not return a value of its own
)

func (s Status) String() string {
	return [...]string{"starting", "started", "returned", "cancelled before it started", "cancelled before it returned"}[s]
}

// TaskOf returns the task that ctx belongs to, or nil.
func TaskOf(ctx context.Context) *Task {
	t, _ := scopeOf(ctx)
	return t
}

// Name returns the name that the task was started with.
func (t *Task) Name() string { return t.class.text }

// Parent returns the task in which t was started, or nil. It stays readable when the parent has
// ended. Of more than 32 tasks above each other, those that have ended are left out: the one above
// them is the parent then, see Stack.
func (t *Task) Parent() *Task { return t.up.Load() }

// Kind returns the kind registered for the task's name.
func (t *Task) Kind() Kind { return Kind(t.class.kind.Load()) }

// Loop returns the loop that t runs on.
func (t *Task) Loop() *Loop { return t.strand.loop }

// Status returns where t stands.
func (t *Task) Status() Status { return Status(t.status.Load() &^ released) }

// Stack returns the names of the tasks from the outermost parent down to t: the asynchronous stack.
// A task that has ended is there as long as tasks live that were started inside it, but where that
// would make more than 32: then the outermost stays, and of the others that have ended those that
// were started last.
func (t *Task) Stack() []string {
	var names []string
	for p := t; p != nil; p = p.up.Load() {
		names = append(names, p.class.text)
	}
	slices.Reverse(names)
	return names
}

// Path returns Stack joined by slashes.
func (t *Task) Path() string { return strings.Join(t.Stack(), "/") }

// Children returns the children of t that have not ended.
func (t *Task) Children() []*Task {
	r := t.rare.Load()
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	kids := make([]*Task, 0, len(r.kids)) // no function of package slices: cocoon build puts polls there, and the lock is held
	for k := range r.kids {
		kids = append(kids, k)
	}
	return kids
}

// Account returns where the task's time went so far; the zero Account once it has ended (a Handle
// keeps the last one).
func (t *Task) Account() Account {
	l := t.strand.loop
	l.lockAll()
	defer l.unlock()
	if !t.known {
		return Account{}
	}
	return t.strand.account(notify.Now())
}

// Account is where a task's time went.
type Account struct {
	Queued      time.Duration // waiting for a slot: before its start, and after blocks and yields
	Running     time.Duration
	Suspended   time.Duration
	Blocked     time.Duration
	Starved     time.Duration // holding a slot without a processor, as far as that was seen; see docs/design.md, What running is
	Preemptions int64         // how often it was switched out
	SafePoints  int64         // safe points at which it answered
}

func accountOf(a sched.Account, safePoints int64) Account {
	return Account{
		Queued:      time.Duration(a.Queued),
		Running:     time.Duration(a.Running),
		Suspended:   time.Duration(a.Suspended),
		Blocked:     time.Duration(a.Blocked),
		Starved:     time.Duration(a.Starved),
		Preemptions: a.Preemptions,
		SafePoints:  safePoints,
	}
}

// ended reports whether the task's function will not run (any more).
func (t *Task) ended() bool { return t.Status() >= Returned }
