package sched

// Block takes the slot from a running task before the task waits for something else.
func (c *Core) Block(t *Task, now int64) {
	switch t.state {
	case Running:
		i := c.vacate(t, now)
		t.enter(Blocked, now)
		c.fill(i, now)
	case Lent:
		t.enter(Blocked, now)
	default:
		panic("sched: block of a task that is " + t.state.String())
	}
}

// Unblock makes a blocked task, or a task that has lent its slot, wait for a slot again; it reports
// whether the task got one at once.
func (c *Core) Unblock(t *Task, now int64) bool {
	if t.state != Blocked && t.state != Lent {
		panic("sched: unblock of a task that is " + t.state.String())
	}
	t.enter(Ready, now)
	if i := c.freeSlot(); i >= 0 {
		c.grant(t, i, now)
		return true
	}
	c.wait.push(t)
	return false
}

// Yield lets waiting tasks go first. It reports whether t has a slot, because no task could take
// it. A task that has lent its slot asks for one, as in Unblock.
func (c *Core) Yield(t *Task, now int64) bool {
	if t.state == Lent {
		return c.Unblock(t, now)
	}
	i := c.vacate(t, now)
	t.enter(Ready, now)
	next := c.nextIn(i, now)
	if next == nil || c.defers(next, t, now) {
		c.grant(t, i, now)
		return true
	}
	c.give(next, i, now)
	c.wait.push(t)
	return false
}
