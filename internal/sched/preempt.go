package sched

// MaySwitch reports whether a switch request to t would take effect now: t is preemptible, running,
// not immune, and there is a task that may run in its place.
func (c *Core) MaySwitch(t *Task, now int64) bool {
	return c.switchable(t, now) && c.successor(t, now) != nil
}

func (c *Core) switchable(t *Task, now int64) bool {
	return t.state == Running && t.Kind&Preemptible != 0 && now >= t.immune
}

// SwitchAt returns the time from which on a switch request to t would take effect, if nothing else
// changed: now, or the end of t's immunity. ok is false if it would not take effect.
func (c *Core) SwitchAt(t *Task, now int64) (at int64, ok bool) {
	at = max(now, t.immune)
	return at, c.MaySwitch(t, at)
}

// successor returns the task that would run in t's place while t is suspended, or nil.
func (c *Core) successor(t *Task, now int64) *Task {
	s := &c.slots[t.slot]
	head, usable := s.suspended.head, int(t.slot) < c.usable
	var next *Task
	switch {
	case head == nil && usable:
		next = c.nextOver(s, t, nil, now)
	case head != nil && usable:
		next = c.nextOver(s, head, c.resumable(head, false, now), now)
	case head != nil:
		next = c.resumable(head, false, now)
	}
	if next != nil && c.defers(next, t, now) {
		return nil
	}
	return next
}

// Suspend switches t out in favor of its successor. It reports whether it did.
func (c *Core) Suspend(t *Task, now int64) bool {
	if !c.switchable(t, now) {
		return false
	}
	next := c.successor(t, now)
	if next == nil {
		return false
	}
	i := c.vacate(t, now)
	c.give(next, i, now)
	t.enter(Suspended, now)
	t.account.Preemptions++
	t.slot = int32(i)
	c.slots[i].suspend(t, now)
	c.susp++
	return true
}

// Lend takes the slot from a running task that does not respond, in favor of waiting tasks. The
// task runs on; at its next safe point it asks for a slot with Unblock.
func (c *Core) Lend(t *Task, now int64) {
	i := c.vacate(t, now)
	t.enter(Lent, now)
	c.fill(i, now)
}

// Surface records that a blocked task runs without having asked for a slot: the shell took its slot
// because the task waited unannounced, and its wait is over.
func (c *Core) Surface(t *Task, now int64) {
	if t.state != Blocked {
		panic("sched: surface of a task that is " + t.state.String())
	}
	t.enter(Lent, now)
}
