package cocoon

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// named is what policies compare of something with a name: its number, and which selectors it is
// in.
type named struct {
	text string
	id   stubs.NameID

	selected atomic.Pointer[selection]
}

// selector is a set of names that policies speak of by a pattern. Names are looked at once for all
// selectors, when they are first met and when there are others, and afterwards a bit is read. A
// selector is there as long as policies refer to it.
type selector struct {
	key     string // tells it from others
	slot    int    // its bit
	refs    int    // guarded by regMu
	selects func(string) bool

	taskMet, sectionMet atomic.Bool // some task, or section, has had such a name
}

// selectors are those that are referred to, by slot; nil where a slot is free. They do not change.
type selectors []*selector

// selection is in which of the selectors a name is. It does not change.
type selection struct {
	of   *selectors
	bits []uint64
}

// in reports whether the name is selected. It takes no lock. Cost: a few nanoseconds.
func (n *named) in(s *selector, rt *Runtime) bool {
	all, now := rt.naming.selectors.Load(), n.selected.Load()
	if now == nil || now.of != all {
		now = all.selection(n.text)
		n.selected.Store(now)
	}
	i := s.slot / 64
	return i < len(now.bits) && now.bits[i]>>(s.slot%64)&1 != 0
}

func (all *selectors) selection(text string) *selection {
	s := &selection{of: all, bits: make([]uint64, (len(*all)+63)/64)}
	for i, sel := range *all {
		if sel != nil && sel.selects(text) {
			s.bits[i/64] |= 1 << (i % 64)
		}
	}
	return s
}

// ofMatch returns the selector of a policy's Match; nil when names can be compared. Called with
// regMu held.
func (rt *Runtime) ofMatch(m policy.Match) *selector {
	s := m.Selector()
	if s == nil {
		return nil
	}
	return rt.selector("match "+strings.Join(m.Tasks, "\x00")+"\x01"+strings.Join(m.Except, "\x00"), s.Selects)
}

// ofPattern returns the selector of a pattern in an expression. Called with regMu held.
func (rt *Runtime) ofPattern(text string) *selector {
	p, err := policy.ParsePattern(text)
	if err != nil {
		panic("cocoon: a verified policy has the pattern " + text + ": " + err.Error()) // policy.Parse has seen to it
	}
	return rt.selector(patternKey+text, p.Matches)
}

const patternKey = "pattern " // in front of a selector's key

// selector returns the selector of a key, made when it is new.
func (rt *Runtime) selector(key string, selects func(string) bool) *selector {
	n := &rt.naming
	all := slices.Clone(*n.selectors.Load())
	for _, s := range all {
		if s != nil && s.key == key {
			s.refs++
			return s
		}
	}
	s := &selector{key: key, refs: 1, selects: selects, slot: slices.Index(all, nil)}
	if s.slot < 0 {
		s.slot, all = len(all), append(all, nil)
	}
	all[s.slot] = s
	n.selectors.Store(&all)
	s.meet(n) // after that: who meets a name from now on looks at the selectors
	return s
}

// meet notes whether the names that were met are among the selector's.
func (s *selector) meet(n *naming) {
	n.classes.Range(func(_, c any) bool {
		if c := c.(*class); c.met.Load() && s.selects(c.text) {
			s.taskMet.Store(true)
		}
		return !s.taskMet.Load()
	})
	n.sections.Range(func(_, o any) bool {
		if s.selects(o.(*named).text) {
			s.sectionMet.Store(true)
		}
		return !s.sectionMet.Load()
	})
}

// release takes references back. Called with regMu held, when nobody looks at the selectors any
// more.
func (rt *Runtime) release(list []*selector) {
	all := slices.Clone(*rt.naming.selectors.Load())
	freed := false
	for _, s := range list {
		if s.refs--; s.refs == 0 {
			all[s.slot], freed = nil, true
		}
	}
	if freed {
		for len(all) > 0 && all[len(all)-1] == nil {
			all = all[:len(all)-1]
		}
		rt.naming.selectors.Store(&all)
	}
}

// metTask notes in the selectors that a task has the name.
func (n *naming) metTask(name string) {
	for _, s := range *n.selectors.Load() {
		if s != nil && !s.taskMet.Load() && s.selects(name) {
			s.taskMet.Store(true)
		}
	}
}

// metSection notes in the selectors that a section has the name.
func (n *naming) metSection(name string) {
	for _, s := range *n.selectors.Load() {
		if s != nil && !s.sectionMet.Load() && s.selects(name) {
			s.sectionMet.Store(true)
		}
	}
}
