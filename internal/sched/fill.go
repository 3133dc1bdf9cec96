package sched

// This file decides what runs next. A slot in which no task is suspended is clean: the first task
// of the queue takes it (see rank.go). Where tasks are suspended, only safe tasks start, and the
// suspended tasks come back when no safe task waits, or when they have been passed over for
// MaxBypass. Loose tasks that have waited for Patience start like safe ones. That bounds every wait:
//
//   - The tasks suspended in a slot get a fifth of it, oldest first (see resume), or the next clean
//     slot.
//   - A suspended unsafe task comes back only when it is alone in its slot, and a waiting unsafe
//     task needs a clean slot. If new tasks started and were switched out endlessly, neither would
//     get one. So when the oldest suspended task has waited for MaxBypass, only tasks that cannot
//     be switched out start over it (see nextOver). When a waiting unsafe task has waited that
//     long, the oldest suspended task, too, comes back only when it is alone (see resumable), so
//     that the slot is clean when it ends.

// fill gives the slot i, if it is free, to the task that should run next, if any.
func (c *Core) fill(i int, now int64) {
	if s := &c.slots[i]; s.current != nil || s.open {
		return
	}
	if next := c.nextIn(i, now); next != nil {
		c.give(next, i, now)
	}
}

// nextIn returns the task that should run next in the free slot i, or nil.
func (c *Core) nextIn(i int, now int64) *Task {
	s := &c.slots[i]
	switch head := s.suspended.head; {
	case head != nil && i >= c.usable:
		return c.resumable(head, true, now)
	case head != nil:
		return c.nextOver(s, head, c.resumable(head, true, now), now)
	case i >= c.usable:
		return nil
	}
	return c.nextClean(now)
}

// fillAll fills every free slot.
func (c *Core) fillAll(now int64) {
	if c.wait.n == 0 && c.susp == 0 {
		return
	}
	for i := 0; i < len(c.slots) && c.busy+c.open < len(c.slots); i++ {
		c.fill(i, now)
	}
}

// nextClean returns the task for a clean slot: the first task of the queue, unless no task waits,
// or tasks suspended in another slot have been passed over for too long: no slot idles while a task
// could use it.
func (c *Core) nextClean(now int64) *Task {
	next := c.next(anyKind, now)
	if c.susp == 0 {
		return next
	}
	var from *slot
	for i := range c.slots {
		s := &c.slots[i]
		if s.suspended.n > 0 && (from == nil || s.passed < from.passed) {
			from = s
		}
	}
	head := from.suspended.head
	if c.overdue(from.passed, now) {
		return head
	}
	if next == nil {
		next = head
	}
	if next.place.background {
		if f := c.foreground(); f != nil && c.defers(next, f, now) {
			return f
		}
	}
	return next
}

// maxHalfway is the greatest number of suspended tasks in a slot. In a slot that has so many, no task
// that may be switched out starts. More tasks would only wait suspended instead of in the queue, each
// with its stack, and each would end later.
const maxHalfway = 4

// nextOver returns the task for slot s, in which head is the first suspended task: a waiting safe
// task, or back, the suspended task that may come back, if any.
func (c *Core) nextOver(s *slot, head, back *Task, now int64) *Task {
	if back != nil && c.overdue(s.passed, now) {
		return back
	}
	allowed := safeKinds
	if s.suspended.n >= maxHalfway || head.state == Suspended && c.overdue(head.since, now) {
		allowed = onlySafe
	}
	next := c.next(allowed, now)
	if t := c.impatient(now); t != nil && (next == nil || t.precedes(next) || c.wait.ranked > 0 && c.passedOver(t, now)) {
		next = t
	}
	if next != nil && (back == nil || !c.defers(next, back, now)) {
		return next
	}
	return back
}

// impatient returns the oldest waiting atomic task, if it is loose and has waited for Patience. It
// may start over suspended tasks, as if it were safe. Like a safe task that is not preemptible, it
// ends before they come back, so it cannot be in their way.
func (c *Core) impatient(now int64) *Task {
	if c.cfg.Patience == 0 {
		return nil
	}
	t := c.wait.oldest(1<<Atomic, c.held())
	if t == nil || !t.Loose || now-t.since < c.cfg.Patience {
		return nil
	}
	return t
}

// ImpatientAt returns since when a loose task has been waiting too long for its slot, or from when
// on it will, unless it gets the slot first. ok is false if no such task waits.
func (c *Core) ImpatientAt() (at int64, ok bool) {
	if c.cfg.Patience == 0 {
		return 0, false
	}
	t := c.wait.oldest(1<<Atomic, c.held())
	if t == nil || !t.Loose {
		return 0, false
	}
	return t.since + c.cfg.Patience, true
}

// resumable returns the suspended task that may come back to a slot in which head is the first:
// head, or the next one if head must come back alone and would not be alone; a background task only
// if there is no other. The slot is empty, or its task is about to be suspended, too.
func (c *Core) resumable(head *Task, empty bool, now int64) *Task {
	if empty && head.next == nil {
		return head
	}
	alone := head.Kind&Safe == 0
	if w := c.wait.oldest(notSafe, c.held()); w != nil && c.overdue(w.since, now) {
		alone = true
	}
	back := head
	if alone {
		back = head.next
	}
	for t := back; t != nil; t = t.next {
		if c.defers(back, t, now) {
			return t
		}
	}
	return back
}

// overdue reports whether a task that has waited since then has been passed over for MaxBypass.
func (c *Core) overdue(since, now int64) bool {
	return c.cfg.MaxBypass > 0 && now-since >= c.cfg.MaxBypass
}

// give hands the free slot i to t, which waits or is suspended.
func (c *Core) give(t *Task, i int, now int64) {
	if t.state == Suspended {
		c.resume(t, now)
	} else {
		c.start(t, now)
	}
	c.grant(t, i, now)
	c.granted = append(c.granted, t)
}

// resume removes t from the suspended tasks of its slot. If t or all of them had been passed over
// for MaxBypass, t runs undisturbed for a quarter of that time: so an endless stream of safe tasks
// leaves the suspended tasks a fifth of the slot.
func (c *Core) resume(t *Task, now int64) {
	s := &c.slots[t.slot]
	if c.overdue(min(s.passed, t.since), now) {
		t.immune = now + c.cfg.MaxBypass/4
	}
	s.suspended.remove(t)
	s.passed = now
	c.susp--
}
