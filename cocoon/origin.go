package cocoon

import (
	"context"
	"unsafe"
)

// origin is what a task begins with. It never changes, so tasks that follow each other on a strand share it while they are
// given the same context and name: tasks are most of what a busy loop leaves to the collector (bench: scale).
type origin struct {
	ctx    context.Context // given by the caller
	up     *Task           // parent, or nil
	attrs  *attrs
	class  *class
	strand *strand // the task's live part, while it is known or in an open slot
}

// originSlab is how many origins are allocated at a time: with what the allocator adds, 1 KiB. Few, because as long as one of
// them is kept the contexts of all are.
const originSlab = 21

// originOf returns the origin of the strand's next task.
func (s *strand) originOf(ctx context.Context, up *Task, a *attrs, name string) *origin {
	last := s.origin
	c := s.classOf(name)
	d := c.declared.Load()
	adorned := d != nil && len(d.attrs) > 0
	// What the context leads to is compared too: that of a web framework may be used again, for another request.
	if last != nil && same(last.ctx, ctx) && last.up == up && last.attrs == a && last.class == c && !adorned {
		return last
	}
	if len(s.origins) == 0 {
		s.origins = make([]origin, originSlab)
	}
	o := &s.origins[0]
	s.origins = s.origins[1:]
	o.ctx, o.up, o.attrs, o.class, o.strand = ctx, up, a, c, s
	if adorned {
		o.adorn(d)
	}
	s.origin = o
	return o
}

// classOf returns the class of a name, which is that of the strand's last task, often.
func (s *strand) classOf(name string) *class {
	if s.origin != nil && s.origin.class.text == name {
		return s.origin.class
	}
	c := s.loop.rt.classOf(name)
	if !c.met.Load() { // all tasks of the name share it
		c.met.Store(true)
	}
	return c
}

// same reports whether a and b are one context. They are not compared with ==, which panics for contexts that cannot be
// compared.
func same(a, b context.Context) bool {
	return *(*[2]uintptr)(unsafe.Pointer(&a)) == *(*[2]uintptr)(unsafe.Pointer(&b))
}
