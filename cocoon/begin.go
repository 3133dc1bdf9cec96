package cocoon

import (
	"context"
	"weak"
)

// taskOf makes the strand's next task.
func (s *strand) taskOf(ctx context.Context, up *Task, a *attrs, name string) *Task {
	m := &s.memory
	c := m.classOf(s.loop.rt, name)
	d := c.declared.Load()
	adorned := d != nil && len(d.attrs) > 0
	bare := false
	if own, ok := ctx.(*taskContext); ok && own.task() == up {
		ctx, bare = up.ctx, true // otherwise the contexts of a chain of tasks would form a chain
	}
	// Also compare what the context refers to: a web framework may reuse its context for another
	// request.
	if m.like(ctx, up, a, c) && !adorned {
		o := m.shared.Value()
		if o == nil || !o.alike(ctx, up, bare, a, c) {
			o = s.share(ctx, up, bare, a)
		}
		if a != nil {
			a.note()
		}
		return &Task{origin: o}
	}
	t := new(sole)
	t.origin = &t.begins
	o := t.origin
	o.begin(ctx, up, bare, a, c, s)
	if adorned {
		o.adorn(d)
	}
	if o.attrs != nil {
		o.attrs.note()
	}
	return &t.Task
}

// share makes an origin for many tasks. It has a frame of its own, because many tasks wait, and
// each has a stack.
//
//go:noinline
func (s *strand) share(ctx context.Context, up *Task, bare bool, a *attrs) *origin {
	o := new(origin)
	o.begin(ctx, up, bare, a, s.memory.class, s)
	s.memory.shared = weak.Make(o)
	return o
}

// classOf returns the class of a name, which is often the class of the strand's last task.
func (m *memory) classOf(rt *Runtime, name string) *class {
	if m.class != nil && m.class.text == name && m.class.kept {
		return m.class
	}
	c := rt.classOf(name)
	if !c.met.Load() { // all tasks of the name share the flag
		c.met.Store(true)
		rt.naming.metTask(name)
	}
	return c
}

func newStrand(l *Loop) *strand {
	s := &strand{loop: l}
	s.core.Owner, s.firm.strand, s.quick.strand = s, s, s
	s.mark()
	if l.rt.gaps != nil {
		s.gap = new(gapProbe)
	}
	return s
}

// idle returns a strand for a task of l. The pool has no New function, because the stack would be
// deeper there: a waiting task should fit into the 2 KiB of a new goroutine's stack.
func (l *Loop) idle() *strand {
	if s, ok := l.pool.Get().(*strand); ok {
		return s
	}
	return newStrand(l)
}

// newTask prepares a task before it arrives. The caller passes the values from ctx, because it has
// already looked them up: in a context of many layers this takes longer than everything here.
func (s *strand) newTask(ctx context.Context, up *Task, a *attrs, name string) *Task {
	t := s.taskOf(ctx, up, a, name)
	if up != nil {
		t.adopt()
	}
	kind := Kind(t.class.kind.Load())
	s.core.Reset(kind)
	s.core.Loose = kind == Atomic && !t.class.fixed()
	s.breath.begin()
	s.shares = 0
	return t
}
