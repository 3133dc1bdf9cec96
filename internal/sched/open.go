package sched

// Open slots. While no task waits or is suspended, giving a free slot to a task needs no decision:
// the shell may hand the slot to any task that arrives, without the core and without its lock. Such
// a slot is open. The core counts it as busy without a task, until the shell shuts it again, free
// or with the task then in it.
//
// The shell shuts all open slots before it lets a task wait; so while a task waits, or is
// suspended, no slot is open.

// Open makes a free slot open and returns it. It returns -1 if there is none, or if new tasks might
// have to wait although there is one.
func (c *Core) Open() int {
	if c.wait.n > 0 || c.holds > 0 || c.cfg.MaxStarted > 0 {
		return -1
	}
	i := c.freeSlot()
	if i >= 0 {
		c.slots[i].open = true
		c.open++
	}
	return i
}

// Opened returns how many slots are open.
func (c *Core) Opened() int { return c.open }

// Shut takes the open slot i back, free. Its caller must then fill the slot, or open it again.
func (c *Core) Shut(i int) {
	if !c.slots[i].open {
		panic("sched: a slot is shut that is not open")
	}
	c.slots[i].open = false
	c.open--
}

// Adopt takes the open slot i back with the task t, which has run in it since the given time.
func (c *Core) Adopt(t *Task, i int, since int64) {
	c.Shut(i)
	t.arrived, t.since = since, since
	c.started++
	c.busyTime += max(0, c.busyAt-since)
	c.grant(t, i, since)
}
