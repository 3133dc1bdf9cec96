package sched

// StartLent lets the task that should start next run without a slot, as if it had lent one, and
// returns it; nil if none may. While a task is suspended, only safe tasks start: it could be
// suspended in the slot where another one would start. No task starts so from the background. At
// its next safe point the task asks for a slot with Unblock.
func (c *Core) StartLent(now int64) *Task {
	allowed := anyKind
	if c.susp > 0 {
		allowed = safeKinds
	}
	t := c.next(allowed, now)
	if t == nil || t.place.background {
		return nil
	}
	c.start(t, now)
	t.enter(Lent, now)
	return t
}
