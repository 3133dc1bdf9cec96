package cocoon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/cocoon-go/cocoon/notify"
)

func init() { inside.Witness = setWitness }

// setWitness is inside.Witness.
func setWitness(runtime any, tell func(context.Context, inside.Event)) (stop func(), err error) {
	rt, w := runtime.(*Runtime), &witness{tell: tell}
	if !rt.witness.CompareAndSwap(nil, w) {
		return nil, fmt.Errorf("spans of the runtime's tasks are told what happens: %w; stop that first", ErrDuplicate)
	}
	return func() { rt.witness.CompareAndSwap(w, nil) }, nil
}

// tell calls the witness. Methods of the context are application code, and the witness calls them:
// a panic there must cost neither the task nor its slot.
//
//go:noinline
func (l *Loop) tell(w *witness, ctx context.Context, e inside.Event) {
	defer func() {
		r := recover()
		if _, thrown := r.(*PreemptedError); r == nil || thrown {
			return // a safe point in a method of the context; the next one throws again
		}
		if w.logs.due(notify.Now()) {
			l.rt.log.add(slog.LevelWarn, "cocoon: the span of a task could not be told: a method of the context, or the tracer, panicked", "panic", fmt.Sprint(r))
		}
	}()
	e.Loop = l.cfg.Name
	w.tell(ctx, e)
}

// showWait tells that the task has waited for its first slot.
func (s *strand) showWait() {
	s.unshown = false
	if w := s.loop.rt.witness.Load(); w != nil {
		s.loop.tell(w, (*taskContext)(s.task), inside.Event{Happening: inside.Waited, Ago: time.Duration(notify.Now() - s.core.Arrived())})
	}
}

// showRefusal tells that a task with the context never started.
func (l *Loop) showRefusal(ctx context.Context, err error) {
	if w := l.rt.witness.Load(); w != nil {
		l.tell(w, ctx, inside.Event{Happening: inside.Refused, Err: err})
	}
}

// showSuspension tells that the task was switched out at a time, and runs again.
func (s *strand) showSuspension(at int64) {
	if w := s.loop.rt.witness.Load(); w != nil {
		s.loop.tell(w, (*taskContext)(s.task), inside.Event{Happening: inside.Suspended, Ago: time.Duration(notify.Now() - at)})
	}
}

// showStall tells that the task has been silent. The task runs, so another goroutine tells it.
// Called under the loop's lock.
func (s *strand) showStall(silent int64) {
	if w := s.loop.rt.witness.Load(); w != nil {
		go s.loop.tell(w, (*taskContext)(s.task), inside.Event{Happening: inside.Stalled, Ago: time.Duration(silent)})
	}
}

// showThrow reports a throw that begins to unwind the task, or that was the error of a call in the
// task.
func (s *strand) showThrow(task *Task, err *PreemptedError) {
	if w := s.loop.rt.witness.Load(); w != nil {
		s.loop.tell(w, (*taskContext)(task), inside.Event{Happening: inside.Thrown, Err: err})
	}
}

// showEnd reports a throw that has ended the task without unwinding it: by its context, or as the
// error of a call. The task has given its slot back.
func (s *strand) showEnd(task *Task, err error) {
	if s.loop.rt.witness.Load() == nil {
		return
	}
	var p *PreemptedError
	if errors.As(err, &p) && p.frames.Load() == nil {
		s.showThrow(task, p)
	}
}
