package cocoon

import (
	"sync/atomic"

	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/stubs"
)

// Kind says how a task may be interleaved with others. Kinds join with |; the kind of a task is that registered for its
// name.
type Kind = sched.Kind

const (
	Atomic      = sched.Atomic      // never switched out; the default
	Preemptible = sched.Preemptible // may be suspended at a safe point
	Safe        = sched.Safe        // may run while a preemptible task is suspended half-way
)

// class is what all tasks of one name share.
type class struct {
	text string
	name stubs.NameID
	kind atomic.Uint32
	cost atomic.Int64 // ns that its tasks ran, averaged; kept while somebody wants to know, see Runtime.costs
}

// ran adds a task that has ended to the average, which follows the last ten or so. Of two that end at one time one may be
// lost.
func (c *class) ran(ns int64) {
	if was := c.cost.Load(); was != 0 {
		ns = was + (ns-was)/8
	}
	c.cost.Store(ns)
}

// maxClasses bounds the table of names, because names may come from outside. Tasks with later names share one class.
const maxClasses = 1 << 16

// classOf returns the class of a name, made when it is new.
func (rt *Runtime) classOf(name string) *class {
	if c, ok := rt.classes.Load(name); ok {
		return c.(*class)
	}
	if rt.classCount.Load() >= maxClasses {
		return rt.otherClass
	}
	c, loaded := rt.classes.LoadOrStore(name, &class{text: name, name: stubs.InternOutside(name)})
	if !loaded {
		rt.classCount.Add(1)
	}
	return c.(*class)
}

// addKind joins k to what is registered for name.
func (rt *Runtime) addKind(name string, k Kind) {
	rt.classOf(name).kind.Or(uint32(k))
	if k&Preemptible != 0 {
		rt.preemptible.Store(true)
	}
}
