package cocoon

import (
	"sync/atomic"

	"github.com/cocoon-go/cocoon/internal/sched"
)

// Kind says how a task may be interleaved with others. Kinds join with |; the kind of a task is
// that registered for its name.
type Kind = sched.Kind

const (
	Atomic      = sched.Atomic      // never switched out; the default
	Preemptible = sched.Preemptible // may be suspended at a safe point
	Safe        = sched.Safe        // may run while a preemptible task is suspended half-way
)

// class is what all tasks of one name share.
type class struct {
	named
	kept     bool                     // it is in the table of names; if not, it is the class of one task
	kind     atomic.Uint32            // what is registered, joined with what a document says
	cost     atomic.Int64             // ns that its tasks ran, averaged; kept while somebody wants to know, see Runtime.costs
	declared atomic.Pointer[declared] // what a document says; nil: nothing
	met      atomic.Bool              // some task has had the name

	seen     found       // what looks at its tasks found, see aside.go
	reported atomic.Bool // it was logged that its tasks wait unannounced
}

// ran adds a task that has ended to the average, which follows the last ten or so. Of two that end
// at one time one may be lost.
func (c *class) ran(ns int64) {
	if was := c.cost.Load(); was != 0 {
		ns = was + (ns-was)/8
	}
	c.cost.Store(ns)
}

// expected returns how long its tasks are expected to run, in ns; 0 when nothing is known.
func (c *class) expected() int64 {
	if d := c.declared.Load(); d != nil && d.cost > 0 {
		return d.cost
	}
	return c.cost.Load()
}
