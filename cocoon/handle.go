package cocoon

import (
	"context"
	"log/slog"
	"runtime/debug"

	"github.com/cocoon-go/cocoon/notify"
)

// Task returns the task.
func (h *Handle) Task() *Task { return h.task }

// Done returns a channel closed when the task has ended.
func (h *Handle) Done() <-chan struct{} { return h.done }

// Wait waits until the task has ended, and returns the task's error as a *TaskError. If ctx ends
// first, Wait returns its cause. Inside a task, pass the task's context as ctx: Wait then gives the
// slot to other tasks while it waits, as Block does.
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

// Go starts fn as a task of the default loop, on a goroutine of its own, see Loop.Go.
func (rt *Runtime) Go(ctx context.Context, name string, fn func(ctx context.Context) error) *Handle {
	return rt.Loop().Go(ctx, name, fn)
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
