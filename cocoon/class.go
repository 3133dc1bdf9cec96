package cocoon

import (
	"sync/atomic"

	"github.com/cocoon-go/cocoon/internal/sched"
)

// Kind says how a task may be interleaved with other tasks. Kinds are combined with |. The kind of
// a task is the one registered for its name.
type Kind = sched.Kind

const (
	Atomic      = sched.Atomic      // never switched out; the default
	Preemptible = sched.Preemptible // may be suspended at a safe point
	Safe        = sched.Safe        // may run while a preemptible task is suspended half-way
)

// class is what all tasks of one name share.
type class struct {
	named
	kept     bool                     // in the table of names; otherwise it belongs to a single task
	kind     atomic.Uint32            // what is registered, combined with what a document declares
	cost     atomic.Int64             // average running time in ns; see Runtime.costs
	declared atomic.Pointer[declared] // what a document declares; nil: nothing
	met      atomic.Bool              // a task has had the name

	seen     found       // results of looks at its tasks, see aside.go
	reported atomic.Bool // the log says that its tasks wait unannounced
}

// ran adds a task that has ended to the average, which follows about the last ten. Of two tasks
// that end at the same time one may be lost.
func (c *class) ran(ns int64) {
	if was := c.cost.Load(); was != 0 {
		ns = was + (ns-was)/8
	}
	c.cost.Store(ns)
}

// expected returns how long the class's tasks are expected to run, in ns, or 0 if this is unknown.
func (c *class) expected() int64 {
	if d := c.declared.Load(); d != nil && d.cost > 0 {
		return d.cost
	}
	return c.cost.Load()
}
