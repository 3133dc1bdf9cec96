package cocoon

// A task that has ended remains the parent of the tasks started inside it until they have ended:
// its context lives on, their paths contain its name, and its Cancel reaches them. So a periodic
// job that starts its own successor and ends is the first link of a chain that grows with time. Two
// rules bound the chain:
//
//   - A child started with its parent's own context does not keep that context. It keeps the
//     context given to the parent (origin.ctx), which has all values of the parent's context, and
//     the parent notifies the child when the parent's context ends (origin.bare). So the contexts
//     of a chain do not form a chain. A child started with a context derived from its parent's
//     keeps the derived one, as any context does.
//   - When a task has more than maxAncestors above it, the outermost ended task among them hands
//     its children to its own parent. That task then has no children, so its context ends. The
//     first link has no parent and stays, so its Cancel reaches every link. A task also stays while
//     it has a child with a context derived from its own, because that context must not end.
//
// The user sees that paths lack names, that Parent returns another task, and that Cancel of a link
// that was left out does not reach later links. To reach them, each new link would have to know all
// earlier links to which a handle still exists.

// maxAncestors is how many tasks a task may have above it before ended ones are left out.
const maxAncestors = 32

// adopt makes the task a child of its parent, and leaves out a task above it if there are too many.
func (t *Task) adopt() {
	for {
		p := t.up.Load()
		r := p.rarely()
		r.mu.Lock()
		if t.up.Load() != p { // handed over meanwhile, with all tasks that share its origin
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
		if p.status.Load()&released != 0 {
			ends.happened()
		}
		r.mu.Unlock()
		p.shorten()
		return
	}
}

// shorten leaves out one task if there are too many from t upwards. It stops after twice as many,
// because a deep recursion of live tasks would make the search long.
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

// handOver makes the children of t, which has ended, children of its parent. It hands nothing over
// if the context of t or of its parent has ended. A context ends before its children are searched,
// so no child misses the end.
func (t *Task) handOver() {
	r, p := t.rarely(), t.up.Load()
	above := p.rarely()
	r.mu.Lock() // the lower task's lock always first
	above.mu.Lock()
	if t.up.Load() == p && r.hung.Load() == 0 && !t.contextEnded() && !p.contextEnded() {
		// If t is not bare, the context that t was given keeps the children's contexts alive, and
		// t's parent with them.
		bare := t.bare.Load()
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

// release is called when t has ended, and again when it loses a child after that. If t has no
// children left, release ends its context and removes t from its parent's children.
func (t *Task) release() {
	if !t.markReleased() {
		return
	}
	if in := t.innerContext(); in != nil {
		in.end() // a throw would have called the watchers before
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

// markReleased sets released, unless it is set already or the task has children. A child may be
// added at the same moment: it then finds released in adopt, or has made rare.
func (t *Task) markReleased() bool {
	r := t.rare.Load()
	if r == nil {
		set := t.status.Or(released)&released == 0
		if t.rare.Load() != nil {
			ends.happened()
		}
		return set
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.kids) == 0 && t.status.Or(released)&released == 0
}

// lose removes a child from t, and reports false if the child was handed over to another task just
// before.
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

// release releases the strand's task, which has ended. Stats counts a task with a parent until its
// parent has forgotten it, so that a program that sees no task finds no children either.
func (s *strand) release(t *Task) {
	t.release()
	if !s.counted {
		return
	}
	s.counted = false
	if l := s.loop; l.rt.tasks.Add(-1) == 0 {
		l.lock()
		if l.closed {
			l.rt.ended()
		}
		l.unlock()
	}
}
