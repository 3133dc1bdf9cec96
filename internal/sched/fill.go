package sched

// fill gives the free slot i to the task that is to run next, if any:
//
//  1. In a slot with suspended tasks: a safe task that waits, unless the oldest suspended one has been passed over for
//     MaxBypass; else the suspended task that may run (see resumable).
//  2. In a clean slot: the task that has waited longest; else a task suspended in another slot, so that no slot idles
//     while somebody could use it.
func (c *Core) fill(i int, now int64) {
	s := &c.slots[i]
	if s.current != nil {
		return
	}
	if s.suspended.n == 0 {
		c.fillClean(i, now)
		return
	}
	if !c.bypassed(s, now) {
		if t := c.wait.first(true, c.held()); t != nil {
			c.start(t, i, now)
			return
		}
	}
	c.resume(s, resumable(s), i, now)
}

// fillAll fills every free slot.
func (c *Core) fillAll(now int64) {
	for i := range c.slots {
		c.fill(i, now)
	}
}

func (c *Core) fillClean(i int, now int64) {
	if t := c.wait.first(false, c.held()); t != nil {
		c.start(t, i, now)
		return
	}
	if c.susp == 0 {
		return
	}
	for j := range c.slots {
		if s := &c.slots[j]; s.suspended.n > 0 {
			c.resume(s, s.suspended.head, i, now)
			return
		}
	}
}

// bypassed reports whether the oldest task suspended in s has been passed over for MaxBypass.
func (c *Core) bypassed(s *slot, now int64) bool {
	return c.cfg.MaxBypass > 0 && now-s.suspended.head.since >= c.cfg.MaxBypass
}

// resumable returns the suspended task that may run next in s: the oldest that is safe, because the others stay half-way;
// the one that is not safe comes when it is alone. There is at most one such: only safe tasks start in a slot where
// another is suspended.
func resumable(s *slot) *Task {
	if s.suspended.n == 1 {
		return s.suspended.head
	}
	for t := s.suspended.head; t != nil; t = t.next {
		if t.Kind&Safe != 0 {
			return t
		}
	}
	panic("sched: two suspended tasks in a slot and none is safe")
}

func (c *Core) start(t *Task, i int, now int64) {
	c.wait.remove(t)
	if t.state == Queued {
		c.grantFirst(t, i, now)
	} else {
		c.grant(t, i, now)
	}
	c.granted = append(c.granted, t)
}

// resume gives slot i to t, which is suspended in s. One that was passed over for MaxBypass then runs undisturbed for a
// quarter of that, so that safe tasks without end leave it a fifth of its slot.
func (c *Core) resume(s *slot, t *Task, i int, now int64) {
	if c.cfg.MaxBypass > 0 && now-t.since >= c.cfg.MaxBypass {
		t.immune = now + c.cfg.MaxBypass/4
	}
	s.suspended.remove(t)
	c.susp--
	c.grant(t, i, now)
	c.granted = append(c.granted, t)
}
