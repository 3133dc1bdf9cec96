package cocoon

import (
	"context"
	"runtime/pprof"
)

// The labels of a task's goroutine in profiles, with Config.ProfileLabels. They are independent of
// the marks by which a profile of the runtime's own finds tasks (mark.go): programs that do not
// want them do not pay for them.
const (
	taskLabel   = "cocoon.task"
	tenantLabel = "cocoon.tenant"
)

// labelled returns a function that calls a task's function by call, with the labels of the task.
func (s *strand) labelled(call func(context.Context, taskFunc) error) func(context.Context, taskFunc) error {
	return func(ctx context.Context, fn taskFunc) error {
		s.setLabels()
		defer s.resetLabels()
		return call(ctx, fn)
	}
}

// setLabels gives the calling goroutine the labels of the task, in addition to the labels in the
// context that the task was given.
func (s *strand) setLabels() {
	labels := []string{taskLabel, cutText(s.task.Name(), maxDecisionText)}
	if s.tenant != nil {
		labels = append(labels, tenantLabel, cutText(s.tenant.text, maxDecisionText))
	}
	pprof.SetGoroutineLabels(pprof.WithLabels(s.task.given(), pprof.Labels(labels...)))
}

// resetLabels gives the goroutine the labels of the task around this one, or the labels of the
// context that the task was given.
func (s *strand) resetLabels() {
	if s.outer != nil {
		s.outer.setLabels()
		return
	}
	pprof.SetGoroutineLabels(s.task.given())
}

// mark gives the strand its number, and the function through which it calls a task's function.
func (s *strand) mark() {
	s.number = strandNumbers.Add(1)
	s.through = taskMarks[s.number%16]
	if s.loop.rt.gaps != nil {
		s.through = func(ctx context.Context, fn taskFunc) error { return taskMarkAll(s.number, markDigits, ctx, fn) }
	}
	if s.loop.rt.cfg.ProfileLabels {
		s.through = s.labelled(s.through)
	}
}
