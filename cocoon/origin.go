package cocoon

import (
	"context"
	"sync/atomic"
	"unsafe"
	"weak"
)

// origin is what a task begins with. It never changes, but for the parent, see ancestry.go.
//
// An ended task keeps its origin, for its context may be kept, and nothing else of its caller's. So
// no two tasks are carved from one allocation, and a strand that is idle, or whose task goes on for
// hours, leads to no context of an earlier task: a server with a thousand open streams would
// otherwise keep the requests that their strands had served before.
type origin struct {
	ctx    context.Context // given by the caller; of a task with bare set, the one that its parent was given
	up     atomic.Pointer[Task]
	attrs  *attrs
	class  *class
	strand *strand     // the task's live part, while it is known or in an open slot
	bare   atomic.Bool // the caller gave the parent's own context, as it is
}

func (o *origin) begin(ctx context.Context, up *Task, bare bool, a *attrs, c *class, s *strand) {
	o.ctx, o.attrs, o.class, o.strand = ctx, a, c, s
	if up != nil {
		o.up.Store(up)
		o.bare.Store(bare)
	}
}

// alike reports whether the origin is just this.
func (o *origin) alike(ctx context.Context, up *Task, bare bool, a *attrs, c *class) bool {
	return identity(o.ctx) == identity(ctx) && o.up.Load() == up && o.bare.Load() == bare && o.attrs == a && o.class == c
}

// sole is a task with an origin of its own, in one allocation: a request, whose context no other
// task has.
type sole struct {
	Task
	begins origin
}

// often is after how many tasks in a row that begin alike a strand has the next ones share an
// origin: they are a loop's, and most of what a busy loop leaves to the collector (bench: scale). A
// weak pointer is dear to make, and a request that starts two or three tasks is no loop.
const often = 16

// memory is what a strand knows of the task before. It holds the class alone, which all tasks of
// the name share: the origin is weak, and of the rest there are addresses, which may be those of
// other things by now, and only tell when it is worth while to look.
type memory struct {
	class     *class
	context   [2]uintptr
	up, attrs uintptr
	alike     uint32 // how many in a row
	shared    weak.Pointer[origin]
}

// taskOf makes the strand's next task.
func (s *strand) taskOf(ctx context.Context, up *Task, a *attrs, name string) *Task {
	m := &s.memory
	c := m.classOf(s.loop.rt, name)
	d := c.declared.Load()
	adorned := d != nil && len(d.attrs) > 0
	bare := false
	if own, ok := ctx.(*taskContext); ok && own.task() == up {
		ctx, bare = up.ctx, true // or the contexts of a chain of tasks would be a chain, too
	}
	// What the context leads to is compared too: that of a web framework may be used again, for
	// another request.
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

// share makes an origin for many tasks. It has a frame of its own, for tasks that wait are many,
// and each has a stack.
//
//go:noinline
func (s *strand) share(ctx context.Context, up *Task, bare bool, a *attrs) *origin {
	o := new(origin)
	o.begin(ctx, up, bare, a, s.memory.class, s)
	s.memory.shared = weak.Make(o)
	return o
}

// classOf returns the class of a name, which is that of the strand's last task, often.
func (m *memory) classOf(rt *Runtime, name string) *class {
	if m.class != nil && m.class.text == name && m.class.kept {
		return m.class
	}
	c := rt.classOf(name)
	if !c.met.Load() { // all tasks of the name share it
		c.met.Store(true)
		rt.naming.metTask(name)
	}
	return c
}

// like reports whether the last tasks seem to have begun like this one.
func (m *memory) like(ctx context.Context, up *Task, a *attrs, c *class) bool {
	context, above, attributes := identity(ctx), uintptr(unsafe.Pointer(up)), uintptr(unsafe.Pointer(a))
	if m.context == context && m.class == c && m.up == above && m.attrs == attributes {
		if m.alike < often {
			m.alike++
			return false
		}
		return true
	}
	m.context, m.class, m.up, m.attrs, m.alike = context, c, above, attributes, 1
	return false
}

// identity tells contexts apart that live. They are not compared with ==, which panics for contexts
// that cannot be compared.
func identity(ctx context.Context) [2]uintptr { return *(*[2]uintptr)(unsafe.Pointer(&ctx)) }
