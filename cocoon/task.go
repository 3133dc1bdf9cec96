package cocoon

import (
	"context"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Task is one piece of work, from its arrival to its end. TaskOf returns the current task, and
// Handle.Task the task of a handle. All methods may be called from any goroutine, at any time.
type Task struct {
	*origin
	rare   atomic.Pointer[rare]
	status atomic.Uint32 // a Status, and released
	doomed bool          // cancelled, perhaps before it arrived; guarded by the loop's lock
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
	// cleared says that no context above had ended then, see endsSoFar.cleared
	cleared atomic.Uint64

	wroteIn  uint64 // see cut.go; owned by the task's goroutine, as is the next field
	cutShort *PreemptedError
	traced   *traced // nil: no trace has the task; owned by the task's goroutine
}

// cancelContext carries the cancellation of a task. It is made on the first call of Done or of
// cancel, because most tasks never need one.
type cancelContext struct {
	context.Context
	cancel context.CancelCauseFunc
}

// Handle refers to a task started by Go. A child task, which is started inside another task,
// belongs to its parent: cancelling the parent cancels the child, and the child's errors name both.
// A parent does not wait for its children, and its end does not cancel them; its context ends when
// its last child has ended. A chain of more than 32 tasks drops the ended ones (see Task.Stack):
// their contexts end, and their children become children of the next task above them.
type Handle struct {
	task *Task
	done chan struct{}

	// Written by the task's goroutine before done is closed.
	err     error
	account Account

	once sync.Once
	wrap error
}

// watcher is called when a throw has ended the context of a task.
type watcher struct {
	fn   func()
	task *Task
	next *watcher // in the task's list; guarded by rare.mu
}

// traced holds a task's entries in an execution trace. The task's goroutine owns it.
type traced struct {
	ctx    context.Context
	task   *trace.Task
	region *trace.Region // while it is queued, or from its start to its end
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

// Name returns the name that the task was started with.
func (t *Task) Name() string { return t.class.text }

// Parent returns the task in which t was started, or nil. It stays readable after the parent has
// ended. A chain of more than 32 tasks drops the ended ones; Parent is then the next task above
// them: see Stack.
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

// maxPath is how many names a path has at most. Errors and lines of the log have paths, and live
// tasks may be nested thousands deep. The outermost name is not among them, because to find it for
// each task of a deep recursion would take quadratic time.
const maxPath = 64

// Path returns Stack joined by slashes. If there are more than 64 names, it has an ellipsis and the
// innermost 64: "…/b/c". Errors and the log name tasks by their paths.
func (t *Task) Path() string {
	names := make([]string, 0, 4)
	p := t
	for ; p != nil && len(names) < maxPath; p = p.up.Load() {
		names = append(names, p.class.text)
	}
	if p != nil {
		names = append(names, "…")
	}
	slices.Reverse(names)
	return strings.Join(names, "/")
}

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

// ended reports whether the task's function has ended or will never run.
func (t *Task) ended() bool { return t.Status() >= Returned }
