package sched

import "fmt"

// checkChoice checks that the right tasks got the slots, from the states before and after an
// operation.
func (w *world) checkChoice(o op, before, after picture, granted []*Task) error {
	if a := w.find(o.task); o.verb == "suspend" && a.state == Suspended && before.of(a).state == Running && w.now < a.immune {
		return fmt.Errorf("%s was switched out and is immune for another %d ns", a.name, a.immune-w.now)
	}
	if err := w.checkBackground(o, before, after); err != nil {
		return err
	}
	if err := w.checkOrder(before, append(granted, startedLent(before, after)...)); err != nil {
		return err
	}
	for _, e := range after {
		x, now := e.a, e.seat
		if was := before.of(x); now.state == Running && (was.state == Queued || was.state == Ready) {
			if err := w.checkStarted(o, x, before, after); err != nil {
				return err
			}
		}
	}
	w.follow(o, before, after)
	return nil
}

// checkStarted checks that x, which waited, did not start where suspended tasks must come back
// first.
func (w *world) checkStarted(o op, x *actor, before, after picture) error {
	i := after.of(x).slot
	if len(suspendedIn(i, after)) == 0 {
		for j := range w.passed {
			if w.overdue(w.passed[j]) && sameSet(suspendedIn(j, before), suspendedIn(j, after)) {
				return fmt.Errorf("%s got the clean slot %d, and those suspended in slot %d were passed over for too long", x.name, i, j)
			}
		}
		return nil
	}
	was := suspendedIn(i, before)
	if len(was) == 0 || !w.overdue(w.passed[i]) {
		return nil
	}
	// A switched out task stays suspended in the slot, so a task that must come back alone does not
	// come back.
	if o.verb == "suspend" && len(was) == 1 && (was[0].Kind&Safe == 0 || w.unsafeOverdue(before)) {
		return nil
	}
	return fmt.Errorf("%s got slot %d, and those suspended in it were passed over for too long", x.name, i)
}

// unsafeOverdue reports whether an unsafe task has waited for MaxBypass, and may start: an
// operation that ends a task may let a new one start, and already makes the other tasks give way to
// it.
func (w *world) unsafeOverdue(p picture) bool {
	for _, e := range p {
		a, s := e.a, e.seat
		if a.Kind&Safe == 0 && (s.state == Ready || s.state == Queued && !(w.wasHeld && w.held())) && w.overdue(s.since) {
			return true
		}
	}
	return false
}

// follow keeps the world's own record of since when tasks have been passed over, and which are
// immune.
func (w *world) follow(o op, before, after picture) {
	for _, e := range after {
		x, now := e.a, e.seat
		if was := before.of(x); was.state == Suspended && now.state == Running && w.overdue(min(w.passed[was.slot], was.since)) {
			x.immune = w.now + w.cfg.MaxBypass/4
		}
	}
	switch a := w.find(o.task); o.verb {
	case "nest":
		if a.inner != nil {
			a.inner.immune = a.immune
		}
	case "unnest":
		if b := w.ended[o.with]; before.of(b).state == Running {
			a.immune = b.immune
		}
	}
	for i := range w.passed {
		was, is := suspendedIn(i, before), suspendedIn(i, after)
		if len(was) == 0 && len(is) > 0 {
			w.passed[i] = w.now
		}
		for _, x := range was {
			if s := after.of(x); s.state != Suspended {
				w.passed[i] = w.now
			}
		}
	}
}

func (w *world) overdue(since int64) bool {
	return w.cfg.MaxBypass > 0 && w.now-since >= w.cfg.MaxBypass
}

func suspendedIn(i int, p picture) (in []*actor) {
	for _, e := range p {
		a, s := e.a, e.seat
		if s.state == Suspended && s.slot == i {
			in = append(in, a)
		}
	}
	return in
}

func sameSet(a, b []*actor) bool {
	in := map[*actor]bool{}
	for _, x := range a {
		in[x] = true
	}
	for _, x := range b {
		if !in[x] {
			return false
		}
	}
	return len(a) > 0 && len(a) == len(b)
}
