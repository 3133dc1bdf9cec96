package sched

// Rank orders the queue: of the tasks that may start in a slot, the task with the lowest rank
// starts first, and of equal ranks the first to arrive. Ranks affect nothing else: which kinds may
// start in a slot, and how long suspended tasks are passed over, is decided before (see fill.go).
//
// An endless stream of lower ranks would keep other tasks waiting forever. So the oldest task that
// may start is next, whatever its place, if MaxBypass has passed since it began to wait, and since
// the oldest task of its kind last started. A waiting task is passed over at most that long for
// each older task of its kind. The bound depends on the queue's length on purpose: with a bound on
// time only, an overloaded loop, in which every task waits longer than the bound, would ignore its
// ranks.

// place is a task's position in the queue's order. The zero place is the default.
type place struct {
	background bool // after all foreground tasks, see background.go
	rank       int64
}

func (p place) precedes(q place) bool {
	if p.background != q.background {
		return q.background
	}
	return p.rank < q.rank
}

// SetRank sets t's rank, which is 0 when t arrives. A waiting task moves in the queue; among tasks
// of the same rank, the order of arrival counts.
func (c *Core) SetRank(t *Task, rank int64) { c.move(t, place{t.place.background, rank}) }

func (c *Core) move(t *Task, to place) {
	if t.place == to {
		return
	}
	if t.state != Queued && t.state != Ready {
		t.place = to
		return
	}
	c.wait.count(t, -1)
	t.place = to
	c.wait.count(t, +1)
	c.wait.queueOf(t).moved(t)
}

// next returns the task of the allowed kinds that should start, or nil.
func (c *Core) next(allowed kinds, now int64) *Task {
	first := c.wait.first(allowed, c.held())
	if c.wait.ranked == 0 {
		return first // in order of waiting, so no task is passed over
	}
	if oldest := c.wait.oldest(allowed, c.held()); oldest != nil && c.passedOver(oldest, now) {
		return oldest
	}
	return first
}

// passedOver reports whether t, the oldest waiting task of its kind, has been passed over for
// MaxBypass.
func (c *Core) passedOver(t *Task, now int64) bool {
	return c.overdue(max(t.since, c.wait.queueOf(t).passed), now)
}

// start removes t, which waits, from the queue.
func (c *Core) start(t *Task, now int64) {
	if t.state == Queued {
		c.begin(t)
	}
	if q := c.wait.queueOf(t); q.head == t {
		q.passed = now
	}
	c.wait.remove(t)
}
