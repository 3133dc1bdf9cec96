package cocoon

import (
	"context"
	"errors"
)

// onThrow is inside.OnThrow. A child's context may also end when a context above it ends, and that
// calls no watchers.
func onThrow(ctx context.Context, fn func()) (stop func() bool) {
	c, ok := ctx.(*taskContext)
	if !ok || c.task().up.Load() != nil {
		return context.AfterFunc(ctx, fn)
	}
	t := c.task()
	w := &watcher{fn: fn, task: t}
	r := t.rarely()
	r.mu.Lock()
	w.next, r.watchers = r.watchers, w
	r.mu.Unlock()
	if t.thrownInto() && w.stop() { // the context may have ended before the watcher was in the list
		go fn()
	}
	return w.stop
}

// stop takes the watcher off the list, and reports false if it was called or stopped before.
func (w *watcher) stop() bool {
	r := w.task.rare.Load()
	r.mu.Lock()
	defer r.mu.Unlock()
	for at := &r.watchers; *at != nil; at = &(*at).next {
		if *at == w {
			*at = w.next
			return true
		}
	}
	return false
}

// callWatchers calls the watchers if a throw has ended the task's context, each on a separate
// goroutine, as context.AfterFunc does.
func (t *Task) callWatchers() {
	r := t.rare.Load()
	if r == nil || !r.watched() || !t.thrownInto() {
		return
	}
	r.mu.Lock()
	w := r.watchers
	r.watchers = nil
	r.mu.Unlock()
	for ; w != nil; w = w.next {
		go w.fn()
	}
}

func (r *rare) watched() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.watchers != nil
}

// thrownInto reports whether a throw has ended the task's context.
func (t *Task) thrownInto() bool {
	cause := t.endCause()
	if cause == nil {
		return false
	}
	var p *PreemptedError
	return errors.As(cause, &p)
}
