package cocoon

import (
	"runtime/trace"

	"github.com/cocoon-go/cocoon/internal/sched"
)

// What an execution trace shows of tasks, with Config.Trace and while a trace is being taken: a
// task of package runtime/trace for each task, with regions for what it waits for, and a log event
// for each kept decision. All functions are called on the task's goroutine.

// The regions of a task. A suspension is a region within traceRunning.
const (
	traceQueued    = "cocoon queued"
	traceRunning   = "cocoon running"
	traceSuspended = "cocoon suspended"

	// traceTask precedes the name of a task.
	traceTask = "cocoon task "
)

// traces reports whether tasks appear in a trace now.
func (rt *Runtime) traces() bool { return rt.cfg.Trace && trace.IsEnabled() }

// traceArrival begins the task in the trace, and its time in the queue. It has a frame of its own,
// because every task has a stack.
//
//go:noinline
func (t *Task) traceArrival() {
	ctx, task := trace.NewTask(t.given(), traceTask+cutText(t.Name(), maxDecisionText))
	t.rarely().traced = &traced{ctx, task, trace.StartRegion(ctx, traceQueued)}
}

// traceStart records that the task has its first slot.
func (t *Task) traceStart() {
	if x := t.inTrace(); x != nil {
		x.region.End()
		x.region = trace.StartRegion(x.ctx, traceRunning)
	}
}

// traceEnd ends the task in the trace.
func (t *Task) traceEnd() {
	if x := t.inTrace(); x != nil {
		x.region.End()
		x.task.End()
		t.rare.Load().traced = nil
	}
}

// inTrace returns the task's entries in an execution trace, or nil.
func (t *Task) inTrace() *traced {
	if r := t.rare.Load(); r != nil {
		return r.traced
	}
	return nil
}

// traceWait begins a wait for a slot of a task that has run before; nil: it is not traced. Called
// under the loop's lock.
//
//go:noinline
func (s *strand) traceWait() *trace.Region {
	x := s.task.inTrace()
	switch {
	case x == nil:
		return nil
	case s.core.State() == sched.Suspended:
		return trace.StartRegion(x.ctx, traceSuspended)
	}
	return trace.StartRegion(x.ctx, traceQueued)
}
