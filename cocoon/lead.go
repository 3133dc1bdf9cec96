package cocoon

import (
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// newLeads returns the leads for the loop's time policies, or nil if there are none. Called under
// the loop's lock.
func (l *Loop) newLeads() *leads {
	all := l.hub.Listeners(uint16(stubs.Tick))
	if len(all) == 0 {
		return nil
	}
	return noLeads.with(all)
}

var noLeads = &leads{general: never(), least: notify.Never, waiting: notify.Never}

// with returns the leads with further policies. Its time does not depend on the number of earlier
// policies. Called under the loop's lock: the leads share the arrays of their lists, and are
// extended once.
func (k *leads) with(added []*bound) *leads {
	all := *k
	more := &moreLeads{leads: &all}
	for _, b := range added {
		if !b.silent() {
			all.of++
			all.ends = all.ends || b.ends
			more.include(b)
		}
	}
	return &all
}

// moreLeads are leads under construction.
type moreLeads struct {
	*leads
	copied [len(namedLeads{})]bool // which parts no other leads share
}

// ofName returns the leads of a name.
func (n *namedLeads) ofName(name stubs.NameID) (own byKind, known bool) {
	own, known = n[uint64(name)%uint64(len(n))][name]
	return own, known
}

func (k *moreLeads) setOfName(name stubs.NameID, own byKind) {
	i := uint64(name) % uint64(len(k.named))
	switch {
	case k.named[i] == nil:
		k.named[i] = map[stubs.NameID]byKind{}
	case !k.copied[i]:
		k.named[i] = maps.Clone(k.named[i])
	}
	k.named[i][name], k.copied[i], k.some = own, true, true
}

func (t byKind) least() int64 { return slices.Min(t[:]) }

func never() byKind { return byKind{notify.Never, notify.Never, notify.Never, notify.Never} }

func (k *moreLeads) include(b *bound) {
	for i := range b.ways {
		w := &b.ways[i]
		lead := k.leadOf(b, w)
		if !b.perTask {
			k.waiting = min(k.waiting, lead)
		}
		match := b.names
		if b.match != nil {
			match = nil // the selector covers it
		}
		names, some := w.names(match)
		if !b.perTask {
			names, some = nil, false // it is evaluated whichever task runs
		}
		in := w.selectors(b)
		if !b.perTask {
			in = nil
		}
		switch {
		case len(in) > 0:
			c := chosen{in, nil, never()}
			if some {
				c.names = names
			}
			c.lead.lower(b, w, lead)
			k.chosen = append(k.chosen, c)
			k.least = min(k.least, c.lead.least())
			continue
		case !some:
			k.general.lower(b, w, lead)
			k.least = min(k.least, k.general.least())
			continue
		}
		for _, n := range names {
			own, known := k.named.ofName(n)
			if !known {
				own = never()
			}
			own.lower(b, w, lead)
			k.setOfName(n, own)
			k.least = min(k.least, own.least())
		}
	}
}

// leadOf returns how long the way stays closed for a task that begins. A way that may be open at
// once is checked after one interval, like a way that may be open at any time.
func (k *moreLeads) leadOf(b *bound, w *way) (lead int64) {
	for i := range w.clocks {
		switch c := &w.clocks[i]; c.stub {
		case stubs.TaskSections:
			if !b.loop.rt.hasHad(c.sections) {
				k.unmet = append(k.unmet, c.sections)
				lead = notify.Never
			}
			lead = max(lead, c.bound)
		case stubs.TaskRunning, stubs.TaskSectionRunning, stubs.TaskSlice:
			lead = max(lead, c.bound)
		case stubs.TaskElapsed, stubs.TaskWaited, stubs.TaskBlocked, stubs.QueueOldest:
			k.aged, lead = true, max(lead, c.bound)
		}
	}
	if lead == 0 {
		lead = b.interval.Load()
	}
	return lead
}

// lower records the lead for the kinds to which the way applies.
func (t *byKind) lower(b *bound, w *way, lead int64) {
	for k := range t {
		if b.perTask && (!b.concernsKind(Kind(k)) || !w.fitsKind(Kind(k))) {
			continue
		}
		t[k] = min(t[k], lead)
	}
}

func (w *way) fitsKind(k Kind) bool {
	for i := range w.fixed {
		if f := &w.fixed[i]; f.read.stub == stubs.TaskKind && !f.value.Allows(uint64(stubs.Kinds[k])) {
			return false
		}
	}
	return true
}

// lead returns the lead for tasks of the class and kind.
func (k *leads) lead(rt *Runtime, class *class, kind Kind) (lead int64) {
	lead = k.general[kind]
	if k.some {
		if own, ok := k.named.ofName(class.id); ok {
			lead = min(lead, own[kind])
		}
	}
	for i := range k.chosen {
		if c := &k.chosen[i]; c.lead[kind] < lead && c.has(class, rt) {
			lead = c.lead[kind]
		}
	}
	return lead
}
