package cocoon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

// Errors to test for with errors.Is.
var (
	// ErrOverloaded: the loop's queue is at MaxQueue; the task did not start.
	ErrOverloaded = errors.New("loop is overloaded")
	// ErrShutdown: the runtime is shutting down or shut down; the task did not start.
	ErrShutdown = errors.New("runtime is shut down")
	// ErrCancelled: Cancel was called on the task or on one of its parents. errors.Is also matches
	// context.Canceled.
	ErrCancelled error = cancelled{}
	// ErrDuplicate: the name is registered already.
	ErrDuplicate = errors.New("already registered")
	// ErrGone: the policy was cancelled before.
	ErrGone = errors.New("no longer registered")
	// ErrGoexit: the task ended with runtime.Goexit.
	ErrGoexit = errors.New("task called runtime.Goexit")
)

// errTaken refuses a state or policy of a document: code or another document has its name.
var errTaken = fmt.Errorf("%w by code or another document; choose another name, or load the document with LoadPolicyFile, which replaces what the same file declared before", ErrDuplicate)

type cancelled struct{}

func (cancelled) Error() string        { return "task was cancelled" }
func (cancelled) Is(target error) bool { return target == context.Canceled }

// PreemptedError says that a task was thrown into, or refused by a policy before it started. Run,
// Section and Wait return it for such a task, and it is the cause of the task's context.
type PreemptedError struct {
	Policy  string        // the policy that threw; "" for Cancel and Shutdown
	Reason  string        // the reason of the throw
	Task    string        // the task's path, as of Task.Path: "import/parse"
	Section string        // the innermost section at the verdict; "" outside any
	Running time.Duration // how long the task had run at the verdict
	Started bool          // false: refused before its start; no code of the task ran
	Cause   error         // ErrCancelled or ErrShutdown; nil for a policy

	RetryAfter time.Duration // when the caller may try again, as the policy says; 0: it does not say

	account Account // at the verdict
	ruling  *ruling // nil: not a policy's

	// Others may read the error before it has happened and arrived.
	frames   atomic.Pointer[[]uintptr] // where it happened
	became   atomic.Pointer[PanicError]
	returned atomic.Pointer[error]
}

// Returned returns the error with which the code of the task or section returned after it had
// recovered the throw, or after the throw had ended its context; or nil. errors.Is and errors.As
// find this error too. The text of the throw does not include it, because it may be a stack trace.
func (e *PreemptedError) Returned() error {
	if err := e.returned.Load(); err != nil {
		return *err
	}
	return nil
}

// over returns the error of a task or section whose code has swallowed the throw and returned err.
//
// Code that recovers every panic swallows a throw, and often turns it into an error: an interpreter
// reports an internal error with its stack. The callers of the task or section must still be able
// to recognise the throw.
func (e *PreemptedError) over(err error) error {
	if errors.Is(err, e) {
		return err // it contains the throw
	}
	e.returned.Store(&err)
	return e
}

// endedFor returns the error of a task or section whose context the throw has ended, and whose code
// returned err. Code and clients have errors of their own for such an end, such as sql.ErrTxDone,
// or "interrupted" of SQLite. context.Canceled says nothing new.
func (e *PreemptedError) endedFor(err error) error {
	if errors.Is(err, context.Canceled) {
		return e
	}
	return e.over(err)
}

// Panic returns the panic with which the task's code has replaced the throw: code that recovers a
// panic and panics again with its own value, or fails while it is unwound. It returns nil if the
// throw arrived unchanged. The panic ends where the throw would have ended, and is logged.
func (e *PreemptedError) Panic() *PanicError { return e.became.Load() }

func (e *PreemptedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "task %q ", e.Task)
	if e.Section != "" {
		fmt.Fprintf(&b, "preempted in section %q", e.Section)
	} else if e.Started {
		b.WriteString("preempted")
	} else {
		b.WriteString("refused")
	}
	if e.Policy != "" {
		fmt.Fprintf(&b, " by policy %q", e.Policy)
	}
	if e.Started {
		fmt.Fprintf(&b, " after running %v", e.Running)
	}
	if f, ok := e.first(); ok && e.Started {
		fmt.Fprintf(&b, " at %s (%s:%d)", f.Function, filepath.Base(f.File), f.Line) // it may be told to clients: no folders
	}
	if e.Reason != "" {
		b.WriteString(": " + e.Reason)
	}
	if p := e.Panic(); p != nil {
		fmt.Fprintf(&b, " (which its code turned into a %v)", p)
	}
	if e.Returned() != nil {
		b.WriteString(" (its code then returned an error of its own)")
	}
	return b.String()
}

// Unwrap returns the cause, and the error that the task's code has returned.
func (e *PreemptedError) Unwrap() (all []error) {
	for _, err := range []error{e.Cause, e.Returned()} {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}

// Where returns the function, file and line of the safe point at which the task was thrown into. It
// returns "" if the task was not running. In a WebAssembly guest, it returns the function that
// called the guest, or "" in a thread of package guest, which no function called.
func (e *PreemptedError) Where() string {
	f, ok := e.first()
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s (%s:%d)", f.Function, f.File, f.Line)
}

// Stack returns the task's stack at the safe point, one function with file and line per line. It
// returns "" if the task was not running.
func (e *PreemptedError) Stack() string {
	frames := e.frames.Load()
	if frames == nil {
		return ""
	}
	var b strings.Builder
	for fs := runtime.CallersFrames(*frames); ; {
		f, more := fs.Next()
		if !ours(f.Function) {
			fmt.Fprintf(&b, "%s\n\t%s:%d\n", f.Function, f.File, f.Line)
		}
		if !more {
			return b.String()
		}
	}
}

func (e *PreemptedError) first() (runtime.Frame, bool) {
	frames := e.frames.Load()
	if frames == nil {
		return runtime.Frame{}, false
	}
	for fs := runtime.CallersFrames(*frames); ; {
		f, more := fs.Next()
		if !ours(f.Function) && !ofGuest(f.Function) {
			return f, f.Function != goExit
		}
		if !more {
			return runtime.Frame{}, false
		}
	}
}

// hasPassed reports whether the function was on the task's stack.
func (e *PreemptedError) hasPassed(function string) bool {
	frames := e.frames.Load()
	if frames == nil {
		return false
	}
	for fs := runtime.CallersFrames(*frames); ; {
		f, more := fs.Next()
		if f.Function == function {
			return true
		}
		if !more {
			return false
		}
	}
}

// TaskError is the error that Wait returns for a failed task. It has the path of the task and the
// error of the task's function.
type TaskError struct {
	Task string // the task's path, as of Task.Path: "import/parse"
	Err  error
}

// Error names the task once: the text of a throw into it has the name already.
func (e *TaskError) Error() string {
	if p, ok := e.Err.(*PreemptedError); ok && p.Task == e.Task {
		return p.Error()
	}
	return fmt.Sprintf("task %q: %v", e.Task, e.Err)
}

// Unwrap returns the error of the task's function.
func (e *TaskError) Unwrap() error { return e.Err }

// PanicError is the error of a task that was started by Go and panicked. It also describes a panic
// that replaced a throw, see PreemptedError.Panic.
type PanicError struct {
	Value any
	Stack []byte

	// For a panic that replaced a throw: the value's text, from before the throw referred to the
	// value. The value may hold the throw, and the throw prints the value, so printing either would
	// never end.
	text string
}

func (e *PanicError) Error() string {
	if e.text != "" {
		return "panic: " + e.text
	}
	return fmt.Sprintf("panic: %v", e.Value)
}

// Unwrap returns the panic's value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
