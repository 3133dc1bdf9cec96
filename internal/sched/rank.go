package sched

// Rank orders the queue: of the tasks that may start in a slot the one with the lowest rank starts
// first, and of equal ones who came first. Ranks do not bear on anything else: which kinds may
// start where, and how long those that are suspended are passed over, is decided before (see
// fill.go).
//
// Lower ranks without end would keep the others waiting for ever. So when the oldest task that may
// start has waited for MaxBypass, and so has its kind since its oldest last started, it starts next
// whatever its place. A task that waits is passed over at most that long for each older one of its
// kind: the bound is one of the queue's length as well, because were it one of time alone, an
// overloaded loop, in which everybody waits for longer, would forget its ranks.

// place is where a task stands in the queue. The zero place is the usual one.
type place struct {
	background bool // behind all that are not, see background.go
	rank       int64
}

func (p place) precedes(q place) bool {
	if p.background != q.background {
		return q.background
	}
	return p.rank < q.rank
}

// SetRank gives t its rank, which is 0 when it arrives. A task that waits changes its place; of
// those of the same, it stands where it came.
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

// next returns the task of the allowed kinds that is to start, or nil.
func (c *Core) next(allowed kinds, now int64) *Task {
	first := c.wait.first(allowed, c.held())
	if c.wait.ranked == 0 {
		return first // in order of waiting, so nobody is passed over
	}
	if oldest := c.wait.oldest(allowed, c.held()); oldest != nil && c.passedOver(oldest, now) {
		return oldest
	}
	return first
}

// passedOver reports whether t, the oldest of its kind that waits, has been passed over for
// MaxBypass.
func (c *Core) passedOver(t *Task, now int64) bool {
	return c.overdue(max(t.since, c.wait.queueOf(t).passed), now)
}

// start takes t, which waits, out of the queue.
func (c *Core) start(t *Task, now int64) {
	if t.state == Queued {
		c.begin(t)
	}
	if q := c.wait.queueOf(t); q.head == t {
		q.passed = now
	}
	c.wait.remove(t)
}
