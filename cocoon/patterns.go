package cocoon

import (
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/policy"
)

// in reports whether the selector contains the name. It takes no lock. Cost: a few nanoseconds.
func (n *named) in(s *selector, rt *Runtime) bool {
	all, now := rt.naming.selectors.Load(), n.selected.Load()
	if now == nil || now.of != all {
		now = all.selection(n.text)
		n.selected.Store(now)
	}
	i := s.slot / 64
	return i < len(now.bits) && now.bits[i]>>(s.slot%64)&1 != 0
}

// ofMatch returns the selector of a policy's Match, or nil if comparing names suffices. Called with
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
	p, err := lang.ParsePattern(text)
	if err != nil {
		// lang.Parse has checked it
		panic("cocoon: a verified policy has the pattern " + text + ": " + err.Error())
	}
	return rt.selector(patternKey+text, p.Matches)
}

// selector returns the selector of a key, and makes it if the key is new.
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
	s.meet(n) // after storing it: from now on, code that meets a name looks at the selector
	return s
}

// meet records whether the selector contains any of the names that were met.
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

// release drops references to selectors. Called with regMu held, when no other code looks at them
// any more.
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

// metTask records in the selectors that a task has the name.
func (n *naming) metTask(name string) {
	for _, s := range *n.selectors.Load() {
		if s != nil && !s.taskMet.Load() && s.selects(name) {
			s.taskMet.Store(true)
		}
	}
}

// metSection records in the selectors that a section has the name.
func (n *naming) metSection(name string) {
	for _, s := range *n.selectors.Load() {
		if s != nil && !s.sectionMet.Load() && s.selects(name) {
			s.sectionMet.Store(true)
		}
	}
}
