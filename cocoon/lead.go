package cocoon

import (
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
	k := &leads{general: never(), named: map[stubs.NameID]byKind{}, waiting: notify.Never}
	for _, b := range all {
		if !b.silent() {
			k.of++
			k.ends = k.ends || b.ends
			k.include(b)
		}
	}
	for name, own := range k.named {
		for kind := range own {
			own[kind] = min(own[kind], k.general[kind])
		}
		k.named[name] = own
	}
	k.least = k.general.least()
	for _, own := range k.named {
		k.least = min(k.least, own.least())
	}
	for i := range k.chosen {
		k.least = min(k.least, k.chosen[i].lead.least())
	}
	return k
}

func (t byKind) least() int64 { return slices.Min(t[:]) }

func never() byKind { return byKind{notify.Never, notify.Never, notify.Never, notify.Never} }

func (k *leads) include(b *bound) {
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
			continue
		case !some:
			k.general.lower(b, w, lead)
			continue
		}
		for _, n := range names {
			own, known := k.named[n]
			if !known {
				own = never()
			}
			own.lower(b, w, lead)
			k.named[n] = own
		}
	}
}

// leadOf returns how long the way stays closed for a task that begins. A way that may be open at
// once is checked after one interval, like a way that may be open at any time.
func (k *leads) leadOf(b *bound, w *way) (lead int64) {
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
	if len(k.named) > 0 {
		if own, ok := k.named[class.id]; ok {
			lead = own[kind]
		}
	}
	for i := range k.chosen {
		if c := &k.chosen[i]; c.lead[kind] < lead && c.has(class, rt) {
			lead = c.lead[kind]
		}
	}
	return lead
}
