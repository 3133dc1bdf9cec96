package sched

// Nest hands outer's slot to inner, a task that outer runs on its own goroutine, and reports
// whether it could: outer must hold a slot in which inner may start. Outer counts as blocked until
// Unnest. Inner is preemptible or safe only if both tasks are.
func (c *Core) Nest(outer, inner *Task, now int64) bool {
	if outer.state != Running || c.slots[outer.slot].suspended.n > 0 && inner.Kind&Safe == 0 {
		return false
	}
	inner.Kind &= outer.Kind
	inner.immune = outer.immune
	inner.arrived, inner.since = now, now
	inner.Cost = 0 // it starts out of turn: its group is charged at its end
	c.charge(inner)
	c.started++
	c.swap(outer, Blocked, inner, now)
	return true
}

// Unnest ends inner and gives its slot back to outer. It reports false if inner no longer has a
// slot, so that outer must ask for one with Unblock.
func (c *Core) Unnest(outer, inner *Task, now int64) bool {
	if inner.state != Running {
		c.Exit(inner, now)
		return false
	}
	outer.immune = inner.immune
	c.started--
	c.swap(inner, Done, outer, now)
	inner.settle()
	c.fillAll(now) // tasks may have waited for started to fall
	return true
}

// swap hands from's slot to t; from enters state s.
func (c *Core) swap(from *Task, s State, t *Task, now int64) {
	i := from.slot
	from.enter(s, now)
	from.slot = -1
	t.enter(Running, now)
	t.slot = i
	c.slots[i].current = t
}
