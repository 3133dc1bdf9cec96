package sched

// The background is for tasks that should run only in slots that no other task wants. A waiting
// background task starts after all waiting foreground tasks, and does not start where a suspended
// foreground task could come back. No foreground task is switched out for a background task or
// yields to one; only background tasks do. A background task keeps its slot, as other tasks do: it
// is switched out on request, if it is preemptible.
//
// Background tasks do not starve. If the oldest waiting one has been passed over for MaxBypass, it
// starts (see rank.go). If a suspended one has, it comes back and runs undisturbed for a quarter of
// that time (see fill.go).

// SetBackground makes t a background task, in any state. A running task keeps its slot: it gives
// the slot up when it is asked to, or when it comes back to it.
func (c *Core) SetBackground(t *Task) { c.move(t, place{true, t.place.rank}) }

// defers reports whether t, which waits or is suspended, must leave the slot to other.
func (c *Core) defers(t, other *Task, now int64) bool {
	return t.place.background && !other.place.background && !c.due(t, now)
}

// due reports whether t, which waits or is suspended, has been passed over for too long.
func (c *Core) due(t *Task, now int64) bool {
	if t.state == Suspended {
		// Not the slot's passed, because other tasks come back to the slot.
		return c.overdue(t.since, now)
	}
	return c.wait.queueOf(t).head == t && c.passedOver(t, now)
}

// foreground returns the foreground task that has been suspended longest, or nil.
func (c *Core) foreground() (oldest *Task) {
	for i := range c.slots {
		for t := c.slots[i].suspended.head; t != nil; t = t.next {
			if !t.place.background && (oldest == nil || t.since < oldest.since) {
				oldest = t
			}
		}
	}
	return oldest
}
