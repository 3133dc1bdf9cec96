package cocoon

import (
	"context"
	"sync/atomic"
	"unsafe"
	"weak"
)

// origin holds a task's initial data. It is immutable, except for the parent: see ancestry.go.
//
// A task that has ended keeps its origin, because its context may be retained, and nothing else of
// its caller. So no two tasks share an allocation, and no strand refers to the context of an
// earlier task while it is idle, or while its present task runs for hours. Otherwise a server with
// a thousand open streams would retain the requests that their strands had served before.
type origin struct {
	ctx    context.Context // from the caller; if bare is set, the context given to the parent
	up     atomic.Pointer[Task]
	attrs  *attrs
	class  *class
	strand *strand     // the task's live part, while the task is known or in an open slot
	bare   atomic.Bool // the caller gave the parent's own context, unchanged
}

func (o *origin) begin(ctx context.Context, up *Task, bare bool, a *attrs, c *class, s *strand) {
	o.ctx, o.attrs, o.class, o.strand = ctx, a, c, s
	if up != nil {
		o.up.Store(up)
		o.bare.Store(bare)
	}
}

// alike reports whether the origin has exactly these values.
func (o *origin) alike(ctx context.Context, up *Task, bare bool, a *attrs, c *class) bool {
	return identity(o.ctx) == identity(ctx) && o.up.Load() == up && o.bare.Load() == bare && o.attrs == a && o.class == c
}

// sole is a task with an origin of its own, in one allocation. It is for requests, because no other
// task has the context of a request.
type sole struct {
	Task
	begins origin
}

// often is how many tasks in a row must begin alike before a strand lets the next ones share an
// origin. They belong to a loop, and are most of the garbage that a busy loop produces (bench:
// scale). A weak pointer is expensive to make, and a request that starts two or three tasks is not
// a loop.
const often = 16

// memory holds what a strand keeps of its previous task. It refers only to the class, which all
// tasks of the name share. The origin is a weak pointer, and the other fields are addresses. They
// may belong to other objects by now, and only tell whether a comparison is worthwhile.
type memory struct {
	class     *class
	context   [2]uintptr
	up, attrs uintptr
	alike     uint32 // tasks in a row
	shared    weak.Pointer[origin]
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

// identity distinguishes live contexts. They are not compared with ==, which panics for contexts of
// types without comparison.
func identity(ctx context.Context) [2]uintptr { return *(*[2]uintptr)(unsafe.Pointer(&ctx)) }
