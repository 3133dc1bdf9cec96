package sched

import (
	"fmt"
	"slices"
)

// line identifies a queue of the core: tasks of one kind, new or started.
type line struct {
	fresh bool
	kind  Kind
}

func (w *world) lineOf(a *actor, s seat) line { return line{s.state == Queued, a.Kind} }

// checkOrder checks that the right ones of the waiting tasks started, in the right order. It also
// keeps the world's own record of how long tasks have been passed over.
func (w *world) checkOrder(before picture, granted []*Task) error {
	var wait []*actor
	for _, e := range before {
		a, s := e.a, e.seat
		if s.state == Queued || s.state == Ready {
			wait = append(wait, a)
		}
	}
	slices.SortFunc(wait, func(x, y *actor) int { return int(before.of(x).seq) - int(before.of(y).seq) })
	for _, t := range granted {
		at := slices.IndexFunc(wait, func(a *actor) bool { return &a.Task == t })
		if at < 0 {
			continue
		}
		x := wait[at]
		if !w.replay && !slices.Contains(w.choices(x, wait, before), x) {
			return fmt.Errorf("%s got slot %d (-1: none) out of its turn", x.name, x.Slot())
		}
		l := w.lineOf(x, before.of(x))
		if !slices.ContainsFunc(wait[:at], func(a *actor) bool { return w.lineOf(a, before.of(a)) == l }) {
			w.passedOver[l] = w.now
		}
		wait = slices.Delete(wait, at, at+1)
	}
	return nil
}

// startedLent returns the tasks that waited before, and run without a slot afterwards.
func startedLent(before, after picture) (all []*Task) {
	for _, e := range after {
		if was := before.of(e.a).state; e.state == Lent && (was == Queued || was == Ready) {
			all = append(all, &e.a.Task)
		}
	}
	return all
}

// choices returns which of the waiting tasks, in order of waiting, may be chosen where x was. The
// picture does not always determine which kinds may start, and whether new tasks are held back;
// then there are several.
func (w *world) choices(x *actor, wait []*actor, before picture) (all []*actor) {
	allowed := []kinds{anyKind}
	switch {
	case x.state == Lent && w.c.susp > 0:
		allowed = []kinds{safeKinds}
	case x.state != Lent && w.c.slots[x.Slot()].suspended.n > 0:
		if allowed = []kinds{safeKinds}; x.Kind == Safe {
			allowed = append(allowed, onlySafe)
		}
	}
	held := []bool{false}
	if before.of(x).state == Ready && (w.held() || w.wasHeld) {
		held = []bool{false, true}
	}
	for _, k := range allowed {
		for _, h := range held {
			may := func(a *actor) bool { return k&(1<<a.Kind) != 0 && (before.of(a).state == Ready || !h) }
			all = append(all, w.choice(slices.DeleteFunc(slices.Clone(wait), func(a *actor) bool { return !may(a) }), before))
		}
	}
	return all
}

// choice returns the next of the tasks in order of waiting: the oldest if it was passed over for
// too long, or else the oldest of the lowest rank; a background task only if there is no other.
func (w *world) choice(wait []*actor, before picture) *actor {
	first := wait[0]
	if oldest := before.of(first); w.overdue(max(oldest.since, w.passedOver[w.lineOf(first, oldest)])) {
		return first
	}
	for _, a := range wait {
		if p, q := before.of(a).place, before.of(first).place; !p.background && q.background || p.background == q.background && p.rank < q.rank {
			first = a
		}
	}
	return first
}
