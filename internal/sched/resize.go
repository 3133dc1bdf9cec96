package sched

// Resize makes the first n slots usable, as many as there are at most and one at least. The others
// take no new tasks: who is in one stays until it gives the slot up, and who is suspended in one
// comes back to it. So for a while more tasks may run than slots are usable, and none is disturbed.
func (c *Core) Resize(n int, now int64) {
	c.usable = min(max(1, n), len(c.slots))
	c.fillAll(now)
}

// Slots returns how many slots are usable.
func (c *Core) Slots() int { return c.usable }
