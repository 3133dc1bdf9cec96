package cocoon

import (
	"context"
	"errors"
)

// onThrow is inside.OnThrow. A child's context may end with one above it, which does not tell here.
func onThrow(ctx context.Context, fn func()) (stop func() bool) {
	c, ok := ctx.(*taskContext)
	if !ok || c.task().up.Load() != nil {
		return context.AfterFunc(ctx, fn)
	}
	t := c.task()
	w := &watcher{fn, t}
	r := t.rarely()
	r.mu.Lock()
	r.watchers = append(r.watchers, w)
	r.mu.Unlock()
	if t.thrownInto() && w.stop() { // who ended the context may not have met it
		go fn()
	}
	return w.stop
}

// watcher is told of a throw that has ended the context of a task.
type watcher struct {
	fn   func()
	task *Task
}

// stop keeps the watcher from being told, and reports false if it was told or stopped before.
func (w *watcher) stop() bool {
	r := w.task.rare.Load()
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, other := range r.watchers { // no function of package slices, as in Children
		if last := len(r.watchers) - 1; other == w {
			r.watchers[i], r.watchers[last] = r.watchers[last], nil
			r.watchers = r.watchers[:last]
			return true
		}
	}
	return false
}

// thrownInto reports whether a throw has ended the task's context.
func (t *Task) thrownInto() bool {
	var p *PreemptedError
	return errors.As(t.endCause(), &p)
}

// tellWatchers is called when the task's context has ended.
func (t *Task) tellWatchers() {
	r := t.rare.Load()
	if r == nil || !t.thrownInto() {
		return
	}
	r.mu.Lock()
	watchers := r.watchers
	r.watchers = nil
	r.mu.Unlock()
	for _, w := range watchers {
		go w.fn()
	}
}
