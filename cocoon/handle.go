package cocoon

import (
	"context"
	"log/slog"
	"runtime/debug"
	"sync"
)

// Handle refers to a task started by Go. A child task, which is started inside another task,
// belongs to its parent: cancelling the parent cancels the child, and the child's errors name both.
// A parent does not wait for its children, and its end does not cancel them; its context ends when
// its last child has ended. Of a chain of more than 32 tasks, the ended ones are left out (see
// Task.Stack): their contexts end, and their children become children of the next task above them.
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

// Done returns a channel that is closed when the task has ended.
func (h *Handle) Done() <-chan struct{} { return h.done }

// Wait waits until the task has ended, and returns the task's error as a *TaskError. If ctx ends
// first, Wait returns its cause. Inside a task, pass the task's context as ctx: Wait then gives the
// slot to other tasks meanwhile, as Block does.
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

// Account returns how the task's time was spent so far, or in all if the task has ended.
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
// task it starts a child, see Handle. If the task is refused, Go also returns a handle, and its
// Wait returns the reason.
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
	if t := h.task; t.Status() == Starting { // its context prevented its arrival
		t.status.Store(uint32(CancelledBeforeStart))
		t.release()
	}
	if r := recover(); r != nil {
		e := &PanicError{Value: r, Stack: debug.Stack()}
		h.err = e
		rt.log.add(slog.LevelError, "cocoon: task panicked", "task", h.task.Path(), "panic", textOfPanic(r), "stack", string(e.Stack))
	}
}
