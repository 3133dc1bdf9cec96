package cocoon

import (
	"fmt"
	"log/slog"
	"maps"
	"strings"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// Bounds of the tables. Names that code or a document refers to are stored in addition to these.
const (
	maxClasses  = 1 << 16
	maxSections = 1 << 14
)

// classOf returns the class of a name, and makes it if the name is new.
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
	c.text, c.kept = strings.Clone(name), true // the name may be part of a whole request
	kept, loaded := n.classes.LoadOrStore(c.text, c)
	if !loaded && n.classCount.Add(1) == 1 {
		rt.listen(notify.Now())
	}
	return kept.(*class)
}

// describe assigns to a class what is declared for its name, and reports whether anything is
// declared for only that name. A name takes precedence over patterns, and a more precise pattern
// over a less precise one. Called with mu held.
func (n *naming) describe(c *class) (spoken bool) {
	kind := n.registered[c.text]
	d, whole, ok := n.byName.Of(c.text)
	spoken = whole || kind != 0
	if ok {
		kind |= d.kind
	}
	if ok && !whole {
		d.met.Store(true)
	}
	c.declared.Store(d)
	c.kind.Store(uint32(kind))
	return spoken
}

// redescribe assigns what is declared for a name to its class, if there is one. Called with mu held
// for writing.
func (n *naming) redescribe(name string) {
	if c, ok := n.classes.Load(name); ok {
		n.describe(c.(*class))
	}
}

// mayBe returns an error if tasks of the name may not have the kind in addition to the kinds
// registered before. Called with regMu held.
func (rt *Runtime) mayBe(name string, k Kind) error {
	if d, whole, _ := rt.naming.byName.Of(name); whole && d.fixed && k != Atomic {
		return fmt.Errorf("cocoon: task %q: the kind atomic is %w by a document; declare one kind in both", name, ErrDuplicate)
	}
	return nil
}

// register adds k to the kind registered for the name. Called with regMu held.
func (rt *Runtime) register(name string, k Kind) {
	n := &rt.naming
	n.mu.Lock()
	defer n.mu.Unlock()
	n.registered[name] |= k
	n.redescribe(name)
}

// redeclare puts in force what a document declares about tasks, and replaces what it declared
// before. Called with regMu held.
func (rt *Runtime) redeclare(was, is map[string]*declared) {
	n := &rt.naming
	if len(is) > 0 {
		rt.speaks.Store(true)
		defer rt.listen(notify.Now())
	}
	all := maps.Clone(n.declared)
	var wholes []string
	patterns := false
	changed := func(d *declared) {
		if whole, one := d.pattern.Name(); one {
			wholes = append(wholes, whole)
		} else {
			patterns = true
		}
	}
	for name, d := range was {
		delete(all, name)
		changed(d)
	}
	for name, d := range is {
		all[name] = d
		changed(d)
	}
	byName := lang.NewByName(all)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.declared, n.byName = all, byName
	if patterns {
		n.classes.Range(func(_, c any) bool {
			n.describe(c.(*class))
			return true
		})
		return
	}
	for _, name := range wholes {
		n.redescribe(name)
	}
}

// meets returns the name of a section that a task opens. At the first use of the name, policies
// that refer to it must look at all tasks.
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
	s.text, s.kept = strings.Clone(name), true
	kept, loaded := rt.naming.sections.LoadOrStore(s.text, s)
	if !loaded {
		rt.naming.sectionCount.Add(1)
	}
	// once more, and for the other sections too, because policies may have been registered
	// meanwhile
	rt.naming.metSection(name)
	for _, l := range rt.awaited(name) {
		l.lock()
		l.retime()
		l.unlock()
		l.tickBy(0)
	}
	return kept.(*named)
}

// awaited returns the loops with time policies that refer to the section and have not met it.
func (rt *Runtime) awaited(section string) (loops []*Loop) {
	for _, l := range *rt.loops.Load() {
		if k := l.leads.Load(); k != nil && k.awaits(section) {
			loops = append(loops, l)
		}
	}
	return loops
}

// overflown counts a name for which the table had no room, and logs it at a limited rate.
func (rt *Runtime) overflown(what, name string) {
	rt.naming.unkept.Add(1)
	if len(name) > stubs.MaxName {
		name = name[:stubs.MaxName] + "..."
	}
	if rt.naming.logs.due(notify.Now()) {
		rt.log.add(slog.LevelWarn, "cocoon: there is no room for the name of a "+what+": policies apply to it as to others, but it is looked up again each time",
			"name", strings.Clone(name), "most_bytes", stubs.MaxName, "tasks", rt.naming.classCount.Load(), "sections", rt.naming.sectionCount.Load())
	}
}
