package cocoon

import (
	"fmt"
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
	text     string
	name     stubs.NameID
	kind     atomic.Uint32            // what is registered, joined with what a document says
	cost     atomic.Int64             // ns that its tasks ran, averaged; kept while somebody wants to know, see Runtime.costs
	declared atomic.Pointer[declared] // what a document says; nil: nothing. Written under regMu
	met      atomic.Bool              // some task has had the name

	seen     found       // what looks at its tasks found, see aside.go
	reported atomic.Bool // it was logged that its tasks wait unannounced

	registered Kind // guarded by regMu
}

// ran adds a task that has ended to the average, which follows the last ten or so. Of two that end at one time one may be
// lost.
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

// classFor returns the class of a name of which something is to be said. Called with regMu held.
func (rt *Runtime) classFor(name string) (*class, error) {
	c := rt.classOf(name)
	if c == rt.otherClass {
		return nil, fmt.Errorf("cocoon: task %q: there are %d names of tasks already, and later ones cannot be told apart", name, maxClasses)
	}
	return c, nil
}

// mayBe returns the class of a name whose tasks are to be of a kind, beside those registered before. Called with regMu
// held.
func (rt *Runtime) mayBe(name string, k Kind) (*class, error) {
	c, err := rt.classFor(name)
	if err != nil {
		return nil, err
	}
	if d := c.declared.Load(); d != nil && d.fixed && k != Atomic {
		return nil, fmt.Errorf("cocoon: task %q: the kind atomic is %w by a document; say one thing there and here", name, ErrDuplicate)
	}
	return c, nil
}

// register joins k to what is registered for the class. Called with regMu held.
func (rt *Runtime) register(c *class, k Kind) {
	c.registered |= k
	rt.named[c.text] = c
	c.rekind()
}

// declare puts in force what a document says of the class; nil: it says nothing any more. Called with regMu held.
func (rt *Runtime) declare(c *class, d *declared) {
	c.declared.Store(d)
	if rt.named[c.text] = c; d == nil && c.registered == 0 {
		delete(rt.named, c.text)
	}
	c.rekind()
}

// rekind recomputes the kind. Called with regMu held.
func (c *class) rekind() {
	k := c.registered
	if d := c.declared.Load(); d != nil {
		k |= d.kind
	}
	c.kind.Store(uint32(k))
}
