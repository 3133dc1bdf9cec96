package sched

import "fmt"

// checkBackground holds that a task of the background that got a slot was passed over for too long,
// or took it from nobody.
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
			continue // it had one, or found one free
		}
		if a := w.find(o.task); a != nil && !a.Background() && (o.verb == "suspend" || o.verb == "yield") && before.of(a).state == Running && before.of(a).slot == now.slot {
			return fmt.Errorf("%s is of the background and got the slot that %s gave up for others", x.name, a.name)
		}
		for _, e := range after {
			y, s := e.a, e.seat
			if s.place.background || y == x {
				continue
			}
			// Over a suspended task others may be kept from starting, and from coming back.
			clean := len(suspendedIn(now.slot, before))+len(suspendedIn(now.slot, after)) == 0
			waits := s.state == Ready || s.state == Queued && !w.held() && !w.wasHeld
			beside := was.state == Suspended && s.state == Suspended && before.of(y).state == Suspended && s.slot == was.slot
			alone := y.Kind&Safe == 0 || w.unsafeOverdue(before) && s.since <= was.since // y may have to be the last one
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
