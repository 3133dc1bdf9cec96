package sched

// Nest hands outer's slot to inner, a task that outer runs on its own goroutine, and reports whether it could: outer must
// hold a slot in which inner may start. Outer counts as blocked until Unnest. Inner is as interruptible as both are.
func (c *Core) Nest(outer, inner *Task, now int64) bool {
	if outer.state != Running || c.slots[outer.slot].suspended.n > 0 && inner.Kind&Safe == 0 {
		return false
	}
	inner.Kind &= outer.Kind
	c.started++
	i := outer.slot
	outer.enter(Blocked, now)
	outer.slot = -1
	inner.arrived, inner.since = now, now
	inner.enter(Running, now)
	inner.slot = i
	c.slots[i].current = inner
	return true
}

// Unnest ends inner and gives its slot back to outer; it reports false when inner had none any more, so that outer must
// ask for one with Unblock.
func (c *Core) Unnest(outer, inner *Task, now int64) bool {
	if inner.state != Running {
		c.Exit(inner, now)
		return false
	}
	i := inner.slot
	c.started--
	inner.enter(Done, now)
	inner.slot = -1
	outer.enter(Running, now)
	outer.slot = i
	c.slots[i].current = outer
	return true
}
