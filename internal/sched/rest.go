package sched

// Rested records that t, which holds a slot, has waited for something else for d since it got the
// slot, and that the last wait ended at end. The effect is as if t had given the slot up and
// regained it each time.
func (c *Core) Rested(t *Task, d, end int64) {
	if t.state != Running {
		panic("sched: a rest of a task that is " + t.state.String())
	}
	if end > t.since {
		t.account.Running += end - t.since
		t.since = end
	}
	was := t.account.Running
	t.Discount(d, true, end)
	c.busyTime -= was - t.account.Running
}

// Full reports whether no usable slot is free.
func (c *Core) Full() bool { return c.freeSlot() < 0 }
