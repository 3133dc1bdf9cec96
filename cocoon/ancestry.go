package cocoon

import (
	"cmp"
	"context"

	"github.com/cocoon-go/cocoon/notify"
)

// A task that has ended goes on as the parent of the tasks that it started, until they have ended:
// its context lives on, their paths name it, and Cancel of it reaches them. A periodic job that
// starts its own successor and ends is so the first link of a chain that grows with the time. Two
// rules bound it:
//
//   - A child that gets its parent's own context does not keep that context. It keeps the one that
//     the parent was given (origin.ctx), which has all values of the parent's, and its parent tells
//     it when the parent's context ends (origin.bare). So the contexts of a chain are no chain. A
//     child that gets a context which the caller made from the parent's keeps that one, as contexts
//     do everywhere.
//   - When a task has more than maxAncestors above it, the outermost of them that has ended hands
//     its children to its own parent. It has no children then, so its context ends. The first link
//     has no parent and stays, so Cancel of it reaches all. A task stays, too, while it has a child
//     whose context was made from its own: that context must not end.
//
// The user sees that paths lack names, another Parent, and that Cancel of a link which was left out
// does not reach the later ones. For that each new link would have to know all links that some
// handle still holds.

// maxAncestors is how many tasks are above a task before those that have ended are left out.
const maxAncestors = 32

// adopt makes the task a child of its parent, and leaves a task above it out if there are too many.
func (t *Task) adopt() {
	for {
		p := t.up.Load()
		r := p.rarely()
		r.mu.Lock()
		if t.up.Load() != p { // handed over meanwhile, with others that share its origin
			r.mu.Unlock()
			continue
		}
		if r.kids == nil {
			r.kids = map[*Task]struct{}{}
		}
		r.kids[t] = struct{}{}
		if !t.bare.Load() {
			r.hung.Add(1)
		}
		r.mu.Unlock()
		p.shorten()
		return
	}
}

// shorten leaves one task out, if there are too many from t upwards. It does not look further than
// twice as many, which costs a recursion of tasks that live no more.
func (t *Task) shorten() {
	n, last := 0, (*Task)(nil)
	for p := t; p != nil && n < 2*maxAncestors; p = p.up.Load() {
		n++
		if r := p.rare.Load(); p.ended() && p.up.Load() != nil && r != nil && r.hung.Load() == 0 {
			last = p
		}
	}
	if n > maxAncestors && last != nil {
		last.handOver()
	}
}

// handOver makes the children of t, which has ended, those of its parent. Nothing that ends
// meanwhile is missed: when the context of one of the two has ended, which is before children are
// looked for, nothing is handed over.
func (t *Task) handOver() {
	r, p := t.rarely(), t.up.Load()
	above := p.rarely()
	r.mu.Lock() // the lower one first, always
	above.mu.Lock()
	if t.up.Load() == p && r.hung.Load() == 0 && !t.contextEnded() && !p.contextEnded() {
		bare := t.bare.Load() // otherwise the context that t was given keeps theirs going, and t's parent
		for c := range r.kids {
			c.up.Store(p)
			c.bare.Store(bare)
			above.kids[c] = struct{}{}
			if !bare {
				above.hung.Add(1)
			}
		}
		clear(r.kids)
	}
	above.mu.Unlock()
	r.mu.Unlock()
	t.release()
}

// release is called when t has ended, and when it has lost its last child then: its context ends,
// and t counts no longer as its parent's child.
func (t *Task) release() {
	if r := t.rare.Load(); r != nil {
		r.mu.Lock()
		n := len(r.kids)
		r.mu.Unlock()
		if n > 0 {
			return
		}
	}
	if t.status.Or(released)&released != 0 {
		return
	}
	if t.innerContext() != nil {
		t.endContext(nil)
	}
	for p := t.up.Load(); p != nil; p = t.up.Load() {
		if p.lose(t) {
			if p.ended() {
				p.release()
			}
			return
		}
	}
}

// lose takes a child away from t, and reports false when it was handed over to another just before.
func (t *Task) lose(c *Task) bool {
	r := t.rare.Load()
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.up.Load() != t {
		return false
	}
	if _, ok := r.kids[c]; ok {
		delete(r.kids, c)
		if !c.bare.Load() {
			r.hung.Add(-1)
		}
	}
	return true
}

// contextEnded reports whether the task's own context has ended, other than with one above it.
func (t *Task) contextEnded() bool {
	in := t.innerContext()
	return in != nil && in.Err() != nil || t.status.Load()&released != 0
}

// endedAbove returns the task above t with whose context that of t has ended, or nil.
func (t *Task) endedAbove() *Task {
	for c := t; c.bare.Load(); {
		p := c.up.Load()
		switch {
		case !p.contextEnded():
			c = p
		case c.up.Load() == p: // and not one that c was taken from just now, whose context ended with that
			return p
		}
	}
	return nil
}

// endError returns the error of a context that has ended.
func (t *Task) endError() error {
	if in := t.innerContext(); in != nil && in.Err() != nil {
		return in.Err()
	}
	return context.Canceled
}

// endCause returns the cause of a context that has ended; nil: none but that it was canceled.
func (t *Task) endCause() error {
	if in := t.innerContext(); in != nil && in.Err() != nil {
		return context.Cause(in)
	}
	return nil
}

// endContext ends the task's context, and with it those of the children that have no other. Package
// context calls the contexts above it then; if one of them panics, the task ends, or is thrown
// into, as if it had not.
func (t *Task) endContext(cause error) {
	func() {
		defer func() { _ = recover() }()
		t.cancellation().cancel(cause)
	}()
	if t.contextEnded() {
		t.callWatchers()
		t.endBelow(t.endCause())
	}
}

// endBelow ends the contexts of the children that have no other than that of t, which has ended.
func (t *Task) endBelow(cause error) {
	for _, c := range t.Children() {
		if !c.bare.Load() {
			continue
		}
		if c.innerContext() != nil {
			c.endContext(cause)
		} else {
			c.endBelow(cause)
		}
		if c.Status() == Starting {
			c.giveUp(cause)
		}
	}
}

// giveUp takes a task that waits for its first slot out of the queue.
func (t *Task) giveUp(cause error) {
	why, l := t.refusal(cmp.Or(cause, context.Canceled)), t.strand.loop
	l.lock()
	defer l.unlock()
	if t.known {
		t.strand.withdraw(why, notify.Now())
	}
}

// given returns the context that the task was given, or its own, where it was given its parent's.
func (t *Task) given() context.Context {
	if t.bare.Load() {
		return (*taskContext)(t)
	}
	return t.ctx
}
