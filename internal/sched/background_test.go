package sched

import "fmt"

// checkBackground checks that each background task that got a slot had been passed over for too
// long, or took the slot from no other task.
func (w *world) checkBackground(o op, before, after picture) error {
	for _, e := range after {
		x, now := e.a, e.seat
		was := before.of(x)
		if !now.place.background || now.state != Running || w.passedOverLong(x, was, before) {
			continue
		}
		switch was.state {
		case Queued, Ready, Suspended:
		default:
			continue // it had a slot, or found a free one
		}
		if a := w.find(o.task); a != nil && !a.Background() && (o.verb == "suspend" || o.verb == "yield") && before.of(a).state == Running && before.of(a).slot == now.slot {
			return fmt.Errorf("%s is of the background and got the slot that %s gave up for others", x.name, a.name)
		}
		for _, e := range after {
			y, s := e.a, e.seat
			if s.place.background || y == x {
				continue
			}
			// Suspended tasks may keep other tasks from starting in their slot, and from coming
			// back.
			clean := len(suspendedIn(now.slot, before))+len(suspendedIn(now.slot, after)) == 0
			waits := s.state == Ready || s.state == Queued && !w.held() && !w.wasHeld
			beside := was.state == Suspended && s.state == Suspended && before.of(y).state == Suspended && s.slot == was.slot
			// Y may have to be the last suspended task.
			alone := y.Kind&Safe == 0 || w.unsafeOverdue(before) && s.since <= was.since
			if beside && !alone {
				return fmt.Errorf("%s is of the background and came back to slot %d before %s", x.name, now.slot, y.name)
			}
			if clean && (waits || s.state == Suspended && before.of(y).state == Suspended) {
				return fmt.Errorf("%s is of the background and got slot %d, though %s is %v", x.name, now.slot, y.name, s.state)
			}
		}
	}
	return nil
}

// passedOverLong reports whether x, which waited or was suspended, had been passed over for
// MaxBypass.
func (w *world) passedOverLong(x *actor, was seat, before picture) bool {
	switch was.state {
	case Suspended:
		return w.overdue(was.since)
	case Queued, Ready:
		return w.overdue(max(was.since, w.passedOver[w.lineOf(x, was)]))
	}
	return false
}
