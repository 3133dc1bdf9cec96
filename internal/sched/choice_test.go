package sched

import "fmt"

// checkChoice holds that the right tasks got the slots, from what was before and after an operation.
func (w *world) checkChoice(o op, before, after map[*actor]seat, granted []*Task) error {
	if a := w.find(o.task); o.verb == "suspend" && a.state == Suspended && before[a].state == Running && w.now < a.immune {
		return fmt.Errorf("%s was switched out and is immune for another %d ns", a.name, a.immune-w.now)
	}
	if err := w.checkBackground(o, before, after); err != nil {
		return err
	}
	if err := w.checkOrder(before, granted); err != nil {
		return err
	}
	for x, now := range after {
		if was := before[x]; now.state == Running && (was.state == Queued || was.state == Ready) {
			if err := w.checkStarted(o, x, before, after); err != nil {
				return err
			}
		}
	}
	w.follow(o, before, after)
	return nil
}

// checkStarted holds that x, which waited, did not start where those that are suspended must come first.
func (w *world) checkStarted(o op, x *actor, before, after map[*actor]seat) error {
	i := after[x].slot
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
	// A task that is switched out stays half-way, so that one which must come back alone does not.
	if o.verb == "suspend" && len(was) == 1 && (was[0].Kind&Safe == 0 || w.unsafeOverdue(before)) {
		return nil
	}
	return fmt.Errorf("%s got slot %d, and those suspended in it were passed over for too long", x.name, i)
}

// unsafeOverdue reports whether a task that is not safe, and may start, has waited for MaxBypass.
func (w *world) unsafeOverdue(p map[*actor]seat) bool {
	for a, s := range p {
		if a.Kind&Safe == 0 && (s.state == Ready || s.state == Queued && !w.wasHeld) && w.overdue(s.since) {
			return true
		}
	}
	return false
}

// follow keeps the world's own record of who has been passed over since when, and who is immune.
func (w *world) follow(o op, before, after map[*actor]seat) {
	for x, now := range after {
		if was := before[x]; was.state == Suspended && now.state == Running && w.overdue(min(w.passed[was.slot], was.since)) {
			x.immune = w.now + w.cfg.MaxBypass/4
		}
	}
	switch a := w.find(o.task); o.verb {
	case "nest":
		if a.inner != nil {
			a.inner.immune = a.immune
		}
	case "unnest":
		if b := w.ended[o.with]; before[b].state == Running {
			a.immune = b.immune
		}
	}
	for i := range w.passed {
		was, is := suspendedIn(i, before), suspendedIn(i, after)
		if len(was) == 0 && len(is) > 0 {
			w.passed[i] = w.now
		}
		for _, x := range was {
			if s := after[x]; s.state != Suspended {
				w.passed[i] = w.now
			}
		}
	}
}

func (w *world) overdue(since int64) bool {
	return w.cfg.MaxBypass > 0 && w.now-since >= w.cfg.MaxBypass
}

func suspendedIn(i int, p map[*actor]seat) (in []*actor) {
	for a, s := range p {
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
