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

// Task is one piece of work, from its arrival to its end. TaskOf returns the current task, and
// Handle.Task the task of a handle. All methods may be called from any goroutine, at any time.
type Task struct {
	*origin
	rare   atomic.Pointer[rare]
	status atomic.Uint32 // a Status, and released
	doomed bool          // cancelled before it arrived; guarded by the loop's lock
	known  bool          // its loop's core knows it; guarded by the loop's lock
}

// rare holds the fields that few tasks need.
type rare struct {
	inner atomic.Pointer[cancelContext]

	mu       sync.Mutex
	kids     map[*Task]struct{} // the tasks started inside this one, while they live; guarded by mu
	watchers *watcher           // a list; guarded by mu
	// hung counts the kids that were given a context made from this task's context instead of the
	// context itself; written under mu.
	hung atomic.Int32

	wroteIn  uint64 // see cut.go; owned by the task's goroutine, as is the next field
	cutShort *PreemptedError
}

// rarely returns t.rare, and makes it if necessary.
func (t *Task) rarely() *rare {
	if r := t.rare.Load(); r != nil {
		return r
	}
	t.rare.CompareAndSwap(nil, new(rare))
	return t.rare.Load()
}

// released is set in Task.status when the task and all its children have ended.
const released = 1 << 8

// Status is a task's state (the component model's task states).
type Status uint32

const (
	Starting              Status = iota // arrived, not yet started
	Started                             // its function has been called
	Returned                            // its function has ended: by return, panic or Goexit
	CancelledBeforeStart                // refused, or cancelled while it waited: its function was never called
	CancelledBeforeReturn               // ended by a throw: it did not return a value of its own
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

// Parent returns the task in which t was started, or nil. It stays readable after the parent has
// ended. Of a chain of more than 32 tasks, the ended ones are left out, and the parent is the next
// task above them: see Stack.
func (t *Task) Parent() *Task { return t.up.Load() }

// Kind returns the kind registered for the task's name.
func (t *Task) Kind() Kind { return Kind(t.class.kind.Load()) }

// Loop returns the loop that t runs on.
func (t *Task) Loop() *Loop { return t.strand.loop }

// Status returns the task's state.
func (t *Task) Status() Status { return Status(t.status.Load() &^ released) }

// Stack returns the names of the tasks from the outermost parent down to t: the asynchronous stack.
// A task that has ended remains in it while tasks started inside it are live. If the stack would
// have more than 32 tasks, it keeps the outermost task, and of the other ended tasks only the ones
// started last.
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
	// This loop does not use package slices: cocoon build inserts polls there, and the lock is
	// held.
	kids := make([]*Task, 0, len(r.kids))
	for k := range r.kids {
		kids = append(kids, k)
	}
	return kids
}

// Account returns how the task's time was spent so far. It returns the zero Account when the task
// has ended (a Handle keeps the last one).
func (t *Task) Account() Account {
	l := t.strand.loop
	l.lockAll()
	defer l.unlock()
	if !t.known {
		return Account{}
	}
	return t.strand.account(notify.Now())
}

// Account says how a task's time was spent.
type Account struct {
	Queued    time.Duration // waiting for a slot: before its start, and after blocks and yields
	Running   time.Duration
	Suspended time.Duration
	Blocked   time.Duration
	// Starved is the time with a slot but without a processor, as far as the runtime observed it;
	// see docs/design.md, What running is.
	Starved     time.Duration
	Preemptions int64 // how often it was switched out
	SafePoints  int64 // safe points at which it handled a request
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

// ended reports whether the task's function has ended or will never run.
func (t *Task) ended() bool { return t.Status() >= Returned }
