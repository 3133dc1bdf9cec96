package cocoon

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// naming is what a runtime knows by names of tasks and of sections. Names may come from clients, so
// the tables of those that were met are bounded. What code and documents say is kept apart from
// that: it is always known whole, and freed when nobody says it any more. A name for which the
// table has no room is looked up each time it comes, and so obeys the same policies; what is learnt
// of its tasks, as their average cost, is lost.
type naming struct {
	classes  sync.Map // name -> *class
	sections sync.Map // name -> *named

	selectors atomic.Pointer[selectors] // written with regMu held

	mu         sync.RWMutex // guards what follows; a class is made with it held for reading
	registered map[string]Kind
	declared   map[string]*declared // what documents say, as they write the name; written with regMu held, too
	wholes     map[string]*declared // of these, by name: what is said of one name alone
	patterns   []*declared          // and the others, the most precise first

	classCount, sectionCount atomic.Int64
	unkept                   atomic.Int64 // tasks and sections that came with a name for which there was no room
	logs                     seldom
}

// Bounds of the tables. Of the names that code or a document speaks of, as many more are kept.
const (
	maxClasses  = 1 << 16
	maxSections = 1 << 14
)

// classOf returns the class of a name, made when it is new.
func (rt *Runtime) classOf(name string) *class {
	if c, ok := rt.naming.classes.Load(name); ok {
		return c.(*class)
	}
	n := &rt.naming
	n.mu.RLock()
	defer n.mu.RUnlock()
	c := &class{named: named{text: name, id: stubs.Intern(name)}}
	spoken := n.describe(c)
	if count := n.classCount.Load(); len(name) > stubs.MaxName || count >= maxClasses && !(spoken && count < 2*maxClasses) {
		rt.overflown("task", name)
		return c
	}
	c.text, c.kept = strings.Clone(name), true // it may be part of a whole request
	kept, loaded := n.classes.LoadOrStore(c.text, c)
	if !loaded && n.classCount.Add(1) == 1 {
		rt.listen(notify.Now())
	}
	return kept.(*class)
}

// describe gives a class what is said of its name, and reports whether anything is said of it
// alone. A name counts before patterns, and of these the most precise. Called with mu held.
func (n *naming) describe(c *class) (spoken bool) {
	d, kind := n.wholes[c.text], n.registered[c.text]
	spoken = d != nil || kind != 0
	for i := 0; d == nil && i < len(n.patterns); i++ {
		if p := n.patterns[i]; p.pattern.Matches(c.text) {
			d = p
			d.met.Store(true)
		}
	}
	if d != nil {
		kind |= d.kind
	}
	c.declared.Store(d)
	c.kind.Store(uint32(kind))
	return spoken
}

// redescribe gives what is said of a name to its class, if there is one. Called with mu held for
// writing.
func (n *naming) redescribe(name string) {
	if c, ok := n.classes.Load(name); ok {
		n.describe(c.(*class))
	}
}

// mayBe reports whether tasks of the name may be of a kind, beside those registered before. Called
// with regMu held.
func (rt *Runtime) mayBe(name string, k Kind) error {
	if d := rt.naming.wholes[name]; d != nil && d.fixed && k != Atomic {
		return fmt.Errorf("cocoon: task %q: the kind atomic is %w by a document; say one thing there and here", name, ErrDuplicate)
	}
	return nil
}

// register joins k to what is registered for the name. Called with regMu held.
func (rt *Runtime) register(name string, k Kind) {
	n := &rt.naming
	n.mu.Lock()
	defer n.mu.Unlock()
	n.registered[name] |= k
	n.redescribe(name)
}

// redeclare puts in force what a document says of tasks, in place of what it said before. Called
// with regMu held.
func (rt *Runtime) redeclare(was, is map[string]*declared) {
	n := &rt.naming
	if len(is) > 0 {
		rt.speaks.Store(true)
		defer rt.listen(notify.Now())
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	patterns := false
	change := func(name string, d *declared) {
		p, _ := policy.ParsePattern(name)
		whole, one := p.Name()
		if patterns = patterns || !one; d != nil {
			n.declared[name] = d
		} else {
			delete(n.declared, name)
		}
		switch {
		case !one:
			return
		case d != nil:
			n.wholes[whole] = d
		default:
			delete(n.wholes, whole)
		}
		n.redescribe(whole)
	}
	for name := range was {
		if is[name] == nil {
			change(name, nil)
		}
	}
	for name, d := range is {
		change(name, d)
	}
	if patterns {
		n.repattern()
	}
}

// repattern orders the patterns anew, and looks at all names. Called with mu held for writing.
func (n *naming) repattern() {
	n.patterns = nil
	for _, name := range slices.Sorted(maps.Keys(n.declared)) {
		if _, one := n.declared[name].pattern.Name(); !one {
			n.patterns = append(n.patterns, n.declared[name])
		}
	}
	slices.SortStableFunc(n.patterns, func(a, b *declared) int { return b.pattern.Precision() - a.pattern.Precision() })
	n.classes.Range(func(_, c any) bool {
		n.describe(c.(*class))
		return true
	})
}

// meets returns the name of a section that a task opens. The first time, policies that speak of it
// are to look at all tasks.
func (rt *Runtime) meets(name string) *named {
	if s, ok := rt.naming.sections.Load(name); ok {
		return s.(*named)
	}
	rt.naming.metSection(name)
	awaited := rt.awaited(name)
	s := &named{text: name, id: stubs.Intern(name)}
	if len(name) > stubs.MaxName || len(awaited) == 0 && rt.naming.sectionCount.Load() >= maxSections {
		rt.overflown("section", name)
		return s
	}
	s.text = strings.Clone(name)
	kept, loaded := rt.naming.sections.LoadOrStore(s.text, s)
	if !loaded {
		rt.naming.sectionCount.Add(1)
	}
	rt.naming.metSection(name) // again, and so are the others: policies may have come meanwhile
	for _, l := range rt.awaited(name) {
		l.lock()
		l.retime()
		l.unlock()
		l.tickBy(0)
	}
	return kept.(*named)
}

// awaited returns the loops whose time policies speak of the section, and have not met one.
func (rt *Runtime) awaited(section string) (loops []*Loop) {
	for _, l := range *rt.loops.Load() {
		if k := l.leads.Load(); k != nil && k.awaits(section) {
			loops = append(loops, l)
		}
	}
	return loops
}

// sectionMet reports whether some section has had the name.
func (rt *Runtime) sectionMet(name string) bool {
	_, ok := rt.naming.sections.Load(name)
	return ok
}

// overflown counts a name for which the table had no room, and says so at times.
func (rt *Runtime) overflown(what, name string) {
	rt.naming.unkept.Add(1)
	if len(name) > stubs.MaxName {
		name = name[:stubs.MaxName] + "..."
	}
	if rt.naming.logs.due(notify.Now()) {
		rt.log.add(slog.LevelWarn, "cocoon: there is no room for the name of a "+what+": policies apply to it as to others, but each time it is looked up anew",
			"name", strings.Clone(name), "most_bytes", stubs.MaxName, "tasks", rt.naming.classCount.Load(), "sections", rt.naming.sectionCount.Load())
	}
}
