package sched

// The background is for tasks that are to run in slots that nobody else wants. One that waits
// starts behind all others that wait, and where another could come back from its suspension it does
// not start; nobody is switched out for it, and nobody's yield is for it, but of the background.
// What it has it keeps, as other tasks do: it is switched out when it is asked to, if it is
// preemptible.
//
// It does not starve, as nobody does: passed over for MaxBypass, the oldest that waits starts (see
// rank.go), and one that is suspended comes back and runs undisturbed for a quarter of that (see
// fill.go).

// SetBackground makes t one of the background, wherever it stands. A task that runs keeps its slot:
// it gives way when it is asked to, or comes back to it.
func (c *Core) SetBackground(t *Task) { c.move(t, place{true, t.place.rank}) }

// defers reports whether t, which waits or is suspended, is to leave the slot to other.
func (c *Core) defers(t, other *Task, now int64) bool {
	return t.place.background && !other.place.background && !c.due(t, now)
}

// due reports whether t, which waits or is suspended, has been passed over for too long.
func (c *Core) due(t *Task, now int64) bool {
	if t.state == Suspended {
		return c.overdue(t.since, now) // and not the slot's passed, because others come back to it
	}
	return c.wait.queueOf(t).head == t && c.passedOver(t, now)
}

// foreground returns the task not of the background that has been suspended longest, or nil.
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
