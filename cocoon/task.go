package cocoon

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/notify"
)

// Task is one piece of work, from its arrival to its end. Get the current one with TaskOf, or from a Handle. All methods
// may be called from any goroutine, at any time.
type Task struct {
	ctx      context.Context // given by the caller
	up       *Task           // parent, or nil
	attrs    *attrs
	class    *class
	strand   *strand // its live part, while it is known or in an open slot
	inner    atomic.Pointer[cancelContext]
	kids     atomic.Pointer[children]
	status   atomic.Uint32
	released atomic.Bool // it and all its children have ended
	breathes bool        // it gives its core away now and then, see breath.go; does not change
	doomed   bool        // cancelled before it arrived; guarded by the loop's mu
	known    bool        // its loop's core knows it, and strand is its; guarded by the loop's mu
}

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

// Parent returns the task in which t was started, or nil. It stays readable when the parent has ended.
func (t *Task) Parent() *Task { return t.up }

// Kind returns the kind registered for the task's name.
func (t *Task) Kind() Kind { return Kind(t.class.kind.Load()) }

// Loop returns the loop that t runs on.
func (t *Task) Loop() *Loop { return t.strand.loop }

// Status returns where t stands.
func (t *Task) Status() Status { return Status(t.status.Load()) }

// Stack returns the names of the tasks from the outermost parent down to t: the asynchronous stack.
func (t *Task) Stack() []string {
	n := 0
	for p := t; p != nil; p = p.up {
		n++
	}
	names := make([]string, n)
	for p := t; p != nil; p = p.up {
		n--
		names[n] = p.class.text
	}
	return names
}

// Path returns Stack joined by slashes.
func (t *Task) Path() string { return strings.Join(t.Stack(), "/") }

// Children returns the children of t that have not ended.
func (t *Task) Children() []*Task {
	k := t.kids.Load()
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	list := make([]*Task, 0, len(k.live))
	for c := range k.live {
		list = append(list, c)
	}
	return list
}

// Account returns where the task's time went so far; the zero Account once it has ended (a Handle keeps the last one).
func (t *Task) Account() Account {
	l := t.strand.loop
	l.lock()
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
	Preemptions int64 // how often it was switched out
	SafePoints  int64 // safe points at which it answered
}

func accountOf(a sched.Account, safePoints int64) Account {
	return Account{
		Queued:      time.Duration(a.Queued),
		Running:     time.Duration(a.Running),
		Suspended:   time.Duration(a.Suspended),
		Blocked:     time.Duration(a.Blocked),
		Preemptions: a.Preemptions,
		SafePoints:  safePoints,
	}
}

// children are the tasks started inside one, while they live.
type children struct {
	mu   sync.Mutex
	live map[*Task]struct{}
}

// adopt makes c a child of t.
func (t *Task) adopt(c *Task) {
	k := t.kids.Load()
	if k == nil {
		t.kids.CompareAndSwap(nil, &children{live: map[*Task]struct{}{}})
		k = t.kids.Load()
	}
	k.mu.Lock()
	k.live[c] = struct{}{}
	k.mu.Unlock()
}

// ended reports whether the task's function will not run (any more).
func (t *Task) ended() bool { return t.Status() >= Returned }

// release is called when t has ended, and when its last child has: then its context ends, and t counts no longer as its
// parent's child. Until then a task that has returned goes on as the parent of what it started, as a tail call would.
func (t *Task) release() {
	if k := t.kids.Load(); k != nil {
		k.mu.Lock()
		n := len(k.live)
		k.mu.Unlock()
		if n > 0 {
			return
		}
	}
	if t.released.Swap(true) {
		return
	}
	if in := t.inner.Load(); in != nil {
		in.cancel(nil)
	}
	if p := t.up; p != nil {
		k := p.kids.Load()
		k.mu.Lock()
		delete(k.live, t)
		k.mu.Unlock()
		if p.ended() {
			p.release()
		}
	}
}
