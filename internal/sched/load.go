package sched

// Hold keeps new tasks from starting until each Hold has been released; started tasks keep running.
func (c *Core) Hold() { c.holds++ }

// Release reverts one Hold.
func (c *Core) Release(now int64) {
	if c.holds == 0 {
		panic("sched: release without hold")
	}
	c.holds--
	c.fillAll(now)
}

// Load is a loop's state in numbers.
type Load struct {
	Slots, Busy, Waiting, WaitingSafe, Suspended, Holds int
	Oldest                                              int64 // longest wait so far, in ns
	BusyTime                                            int64 // integral of Busy over time, in ns
}

// Load returns the loop's state at now.
func (c *Core) Load(now int64) Load {
	return Load{
		Slots: c.usable, Busy: c.busy, Waiting: c.wait.n, WaitingSafe: c.WaitingSafe(), Suspended: c.susp, Holds: c.holds,
		Oldest:   c.Oldest(now),
		BusyTime: c.busyTime + int64(c.busy)*max(0, now-c.busyAt),
	}
}

// Waiting returns how many tasks wait for a slot.
func (c *Core) Waiting() int { return c.wait.n }

// WaitingSafe returns how many safe tasks wait for a slot.
func (c *Core) WaitingSafe() int { return c.wait.safe() }

// Suspended returns how many tasks are suspended.
func (c *Core) Suspended() int { return c.susp }

// Oldest returns how long the longest-waiting task has waited, in ns; 0 when none does.
func (c *Core) Oldest(now int64) int64 {
	if t := c.wait.oldest(anyKind, false); t != nil {
		return max(0, now-t.since)
	}
	return 0
}

// Idle reports whether no task holds a slot or waits for one.
func (c *Core) Idle() bool { return c.busy == 0 && c.wait.n == 0 }

// Wanted reports whether a task could use a slot if one became free: a suspended task, or a waiting
// one unless it is held back.
func (c *Core) Wanted() bool { return c.susp > 0 || c.wait.first(anyKind, c.held()) != nil }

// Current returns the task in slot i, or nil.
func (c *Core) Current(i int) *Task { return c.slots[i].current }
