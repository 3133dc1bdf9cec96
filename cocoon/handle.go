package cocoon

import (
	"context"
	"log/slog"
	"runtime/debug"
	"sync"
)

// Handle is a task that was started by Go. A child task, started inside another, belongs to its
// parent: cancelling the parent cancels it, and its errors name both. A parent does not wait for
// its children, nor does its end cancel them; its context ends when the last of them has. Of more
// than 32 tasks above each other, those that have ended are left out, see Task.Stack: their
// children are those of the task above them then, and their contexts end.
type Handle struct {
	task *Task
	done chan struct{}

	// Written by the task's goroutine before done is closed.
	err     error
	account Account

	once sync.Once
	wrap error
}

// Task returns the task.
func (h *Handle) Task() *Task { return h.task }

// Done is closed when the task has ended.
func (h *Handle) Done() <-chan struct{} { return h.done }

// Wait waits until the task has ended and returns its error as a *TaskError, or until ctx ends and
// returns its cause. Inside a task, whose context ctx must be, the slot is given to others
// meanwhile, as by Block.
func (h *Handle) Wait(ctx context.Context) error {
	select {
	case <-h.done:
	default:
		if err := Block(ctx, func() error { return h.wait(ctx) }); err != nil {
			return err
		}
	}
	h.once.Do(func() {
		if h.err != nil {
			h.wrap = &TaskError{Task: h.task.Path(), Err: h.err}
		}
	})
	return h.wrap
}

func (h *Handle) wait(ctx context.Context) error {
	select {
	case <-h.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Account returns where the task's time went; after its end, all of it.
func (h *Handle) Account() Account {
	select {
	case <-h.done:
		return h.account
	default:
		return h.task.Account()
	}
}

// Cancel cancels the task, see Task.Cancel.
func (h *Handle) Cancel() { h.task.Cancel() }

// Go starts fn as a task of the loop on a goroutine of its own, and returns its handle. Inside a
// task it starts a child: see Handle. A refused task has a handle too, whose Wait says so.
func (l *Loop) Go(ctx context.Context, name string, fn func(ctx context.Context) error) *Handle {
	h := &Handle{done: make(chan struct{})}
	if fn == nil {
		fn = func(context.Context) error { return errNilFunc }
	}
	up, attrs := scopeOf(ctx)
	s := l.idle()
	t := s.newTask(ctx, up, attrs, name)
	h.task, s.handle = t, h
	go h.run(s, fn)
	return h
}

func (h *Handle) run(s *strand, fn func(context.Context) error) {
	defer close(h.done)
	h.err = ErrGoexit
	defer h.recovered(s.loop.rt)
	ctx := h.task.given()
	s.heard = s.loop.greet(ctx)
	if h.err = s.admit(ctx, h.task); h.err == nil {
		h.err = ErrGoexit
		h.err = s.call(h.task, fn)
	}
}

func (h *Handle) recovered(rt *Runtime) {
	if t := h.task; t.Status() == Starting { // its context did not let it arrive
		t.status.Store(uint32(CancelledBeforeStart))
		t.release()
	}
	if r := recover(); r != nil {
		e := &PanicError{Value: r, Stack: debug.Stack()}
		h.err = e
		rt.log.add(slog.LevelError, "cocoon: task panicked", "task", h.task.Path(), "panic", textOfPanic(r), "stack", string(e.Stack))
	}
}
