package sched

// What runs next. A slot in which nobody is suspended is clean: the first of the queue takes it
// (see rank.go). Over a suspended task only safe ones start, and the suspended ones come back when
// no safe task waits, or when they have been passed over for MaxBypass. That bounds the waiting of
// all:
//
//   - The tasks suspended in a slot get a fifth of it, the oldest first (see resume), or the next
//     clean slot.
//   - One that is not safe comes back only when it is alone, and one that waits needs a clean slot.
//     Where ever new tasks are switched out neither would come. So when the oldest suspended task
//     has waited for MaxBypass, only tasks that are not switched out themselves start over it (see
//     nextOver); and when one that waits has, the oldest suspended task, too, comes back only when
//     it is alone (see resumable), so that the slot is clean when it ends.

// fill gives the slot i, if it is free, to the task that is to run next, if any.
func (c *Core) fill(i int, now int64) {
	if s := &c.slots[i]; s.current != nil || s.open {
		return
	}
	if next := c.nextIn(i, now); next != nil {
		c.give(next, i, now)
	}
}

// nextIn returns the task that is to run next in the free slot i, or nil.
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

// nextClean returns the task for a clean slot: the first of the queue, unless tasks suspended in
// another slot have been passed over too long, or nobody waits: no slot idles while somebody could
// use it.
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

// maxHalfway is how many suspended tasks a slot has at most when another that may be switched out
// starts in it: more would only wait half-way instead of in the queue, each with its stack, and
// each end later.
const maxHalfway = 4

// nextOver returns the task for slot s, in which head is the first of the suspended tasks: a safe
// one that waits, or back, the suspended one that may come back, if any.
func (c *Core) nextOver(s *slot, head, back *Task, now int64) *Task {
	if back != nil && c.overdue(s.passed, now) {
		return back
	}
	allowed := safeKinds
	if s.suspended.n >= maxHalfway || head.state == Suspended && c.overdue(head.since, now) {
		allowed = onlySafe
	}
	if next := c.next(allowed, now); next != nil && (back == nil || !c.defers(next, back, now)) {
		return next
	}
	return back
}

// resumable returns the suspended task that may come back to a slot in which head is the first:
// head, or the next when head must come back alone and would not be; of the background only if
// there is no other. The slot is empty, or its task is about to be suspended, half-way too.
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

// overdue reports whether who has waited since then has been passed over for MaxBypass.
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

// resume takes t out of those suspended in its slot. When it or all of them had been passed over
// for MaxBypass, it runs undisturbed for a quarter of that: safe tasks without end leave the
// suspended ones a fifth of the slot.
func (c *Core) resume(t *Task, now int64) {
	s := &c.slots[t.slot]
	if c.overdue(min(s.passed, t.since), now) {
		t.immune = now + c.cfg.MaxBypass/4
	}
	s.suspended.remove(t)
	s.passed = now
	c.susp--
}
