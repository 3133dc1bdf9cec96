package sched

// Resize makes the first n slots usable, at least one and at most all. The remaining slots take no
// new tasks: a task in one stays until it gives the slot up, and a task suspended in one comes back
// to it. So for a while more tasks than usable slots may run, and none of them is disturbed.
func (c *Core) Resize(n int, now int64) {
	c.usable = min(max(1, n), len(c.slots))
	c.fillAll(now)
}

// Slots returns how many slots are usable.
func (c *Core) Slots() int { return c.usable }
