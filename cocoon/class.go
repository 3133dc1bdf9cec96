package cocoon

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/policy/document"
)

// Kind says how a task may be interleaved with other tasks: [Atomic], [Preemptible], [Safe], or
// Preemptible|Safe, which documents call both. A preemptible task is suspended only if another can
// run in its place: a safe one, one that is suspended itself, or one that nothing declares, after
// Config.StallAfter. So tasks that shall take turns are both. The kind of a task is the one
// registered for its name.
type Kind = sched.Kind

const (
	Atomic      = sched.Atomic      // never switched out; the default, see Config.StallAfter
	Preemptible = sched.Preemptible // may be suspended at a safe point
	Safe        = sched.Safe        // may run while a preemptible task is suspended half-way
)

// class holds the data that all tasks of one name share.
type class struct {
	named
	kept     bool                     // in the table of names; otherwise it belongs to a single task
	kind     atomic.Uint32            // what is registered, combined with what a document declares
	cost     atomic.Int64             // average running time in ns; see Runtime.costs
	declared atomic.Pointer[declared] // what a document declares; nil: nothing
	met      atomic.Bool              // a task has had the name

	seen     found        // results of looks at its tasks, see aside.go
	brisk    found        // whether its tasks are brisk (they "wait") or not, see brisk.go
	lent     atomic.Int64 // slots that its tasks lost because they waited unannounced
	reported atomic.Bool  // the log says that its tasks wait unannounced
}

// found counts the results of looks at the tasks of a class. Two concurrent looks may count once.
type found struct {
	runs, waits atomic.Int32
	at          atomic.Int64 // the last look in which running tasks counted
}

// declared holds a document's declaration for the tasks of a name. It is immutable.
type declared struct {
	pattern lang.Pattern // the matching names
	met     atomic.Bool  // of a pattern: a task with a matching name has arrived

	kind   Kind
	attrs  []attrs // its priority and labels; only copied, so their noted is never written
	shared *attrs  // a linked copy, for tasks without other attributes
	cost   int64   // ns; 0: not declared
	fixed  bool    // declared atomic
	waits  bool    // declared to wait mostly

	said document.Class // all of it, for warnings
}

// naming holds a runtime's knowledge of the names of tasks and sections. Names may come from
// clients, so the tables of names that were met are bounded. What code and documents declare is
// stored separately: always in full, and freed when it is no longer declared. A name for which the
// table has no room is looked up each time it arrives, so the same policies apply to it. What the
// runtime learns about its tasks, such as their average cost, is lost.
type naming struct {
	classes  sync.Map // name -> *class
	sections sync.Map // name -> *named

	selectors atomic.Pointer[selectors] // written with regMu held

	mu         sync.RWMutex // guards what follows; a class is made with it held for reading
	registered map[string]Kind
	declared   map[string]*declared // by documents: the key is the name as written; set under regMu
	byName     *lang.ByName[*declared]

	classCount, sectionCount atomic.Int64
	unkept                   atomic.Int64 // tasks and sections with names that did not fit
	logs                     logLimit
}

// ran adds a task that has ended to the average, which follows about the last ten. If two tasks end
// at the same time, one of them may not count.
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

const (
	minLook = int64(300 * time.Microsecond) // between two looks at the tasks that hold slots

	fewLooks = 8 // with fewer, nothing is learned

	// manyLooks is from how many looks on older ones count half. A crowd that arrives runs, and may
	// wait later: this many looks after it begins to wait, the runtime has learned it.
	manyLooks = 128
)

// running counts a task found running, in the look at now. A wait counts once, however many tasks
// look at it meanwhile. So running counts only in looks that are minLook apart: each task of a
// crowd looks at the same holders in the same microseconds.
func (c *found) running(now int64) {
	if at := c.at.Load(); now != at {
		if now-at < minLook {
			return
		}
		c.at.Store(now)
	}
	c.runs.Add(1)
	c.age()
}

// found counts a result that counts each time.
func (c *found) found(waits bool) {
	if waits {
		c.waits.Add(1)
	} else {
		c.runs.Add(1)
	}
	c.age()
}

func (c *found) waiting() { c.waits.Add(1); c.age() }

func (c *found) age() {
	if r, w := c.runs.Load(), c.waits.Load(); r+w > manyLooks {
		c.runs.Store(r / 2)
		c.waits.Store(w / 2)
	}
}

// mostlyWait reports whether there were enough looks, and most of them found a waiting task.
func (c *found) mostlyWait() bool {
	w := c.waits.Load()
	return w >= fewLooks && w > 2*c.runs.Load()
}
