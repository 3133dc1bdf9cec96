package sched

// MaySwitch reports whether a switch request to t would be followed now: t is preemptible, running, not immune, and
// there is a task that may run in its place.
func (c *Core) MaySwitch(t *Task, now int64) bool {
	return t.state == Running && t.Kind&Preemptible != 0 && now >= t.immune && c.successor(t, now) != nil
}

// successor returns the task that would run in t's place while t is suspended, or nil. t is then half-way, so it must be
// safe: one that was passed over too long, one that waits, or one suspended earlier in the same slot. When the one passed
// over too long is not safe there is none, and t has to end first.
func (c *Core) successor(t *Task, now int64) *Task {
	s := &c.slots[t.slot]
	if s.suspended.n > 0 && c.bypassed(s, now) {
		if head := s.suspended.head; head.Kind&Safe != 0 {
			return head
		}
		return nil
	}
	if next := c.wait.first(true, c.held()); next != nil {
		return next
	}
	for x := s.suspended.head; x != nil; x = x.next {
		if x.Kind&Safe != 0 {
			return x
		}
	}
	return nil
}

// Suspend switches t out for its successor. It reports whether it did.
func (c *Core) Suspend(t *Task, now int64) bool {
	if !c.MaySwitch(t, now) {
		return false
	}
	next := c.successor(t, now)
	i := c.vacate(t, now)
	s := &c.slots[i]
	if next.state == Suspended {
		c.resume(s, next, i, now)
	} else {
		c.start(next, i, now)
	}
	t.enter(Suspended, now)
	t.account.Preemptions++
	t.slot = int32(i)
	s.suspended.push(t)
	c.susp++
	return true
}

// Lend takes the slot of a running task that does not answer, for the others. The task runs on; when it comes back to a
// safe point it asks for a slot with Unblock.
func (c *Core) Lend(t *Task, now int64) {
	i := c.vacate(t, now)
	t.enter(Lent, now)
	c.fill(i, now)
}
