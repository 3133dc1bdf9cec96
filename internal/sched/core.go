package sched

// Config is a loop's shape.
type Config struct {
	Slots      int   // how many tasks run at once; at least 1
	MaxQueue   int   // how many new tasks may wait, others are refused; 0: no bound
	MaxStarted int   // how many tasks may be started and not ended, others wait; 0: no bound
	MaxBypass  int64 // ns a task is passed over by others before they make way for it (see fill.go); 0: no bound
}

// slot is the right to run. While tasks are suspended in it, only safe tasks start in it; so only
// the first of the suspended can be one that is not safe.
type slot struct {
	current   *Task
	open      bool  // in the shell's hands, see open.go
	suspended list  // in order of suspension
	passed    int64 // since when the suspended tasks have been passed over: none of them was resumed
}

// suspend puts t, which ran in the slot, among the suspended.
func (s *slot) suspend(t *Task, now int64) {
	if s.suspended.n == 0 {
		s.passed = now
	}
	s.suspended.push(t)
}

// Core decides for one loop. Methods that free or fill slots append the tasks they granted a slot
// to, and Granted hands them over; the task that a method is about is never among them unless it
// said so.
type Core struct {
	cfg     Config
	slots   []slot
	usable  int // slots that take new tasks, the first ones; see resize.go
	wait    waiting
	holds   int
	started int // tasks that have started and not ended
	busy    int // slots with a current task
	open    int // open slots
	susp    int // suspended tasks, all slots
	granted []*Task
	virtual int64 // the virtual time of the shares, see share.go

	busyTime int64 // integral of busy over time, up to busyAt
	busyAt   int64
}

// NewCore returns a core with all slots free.
func NewCore(cfg Config) *Core {
	return &Core{cfg: cfg, slots: make([]slot, cfg.Slots), usable: cfg.Slots, granted: make([]*Task, 0, cfg.Slots)}
}

// Granted returns the tasks that were given a slot since the last call. The slice is valid until
// the next method call.
func (c *Core) Granted() []*Task {
	g := c.granted
	c.granted = c.granted[:0]
	return g
}

// Arrive admits a new task: it is granted a slot at once (it does not appear in Granted), waits, or
// is refused because MaxQueue tasks wait already.
func (c *Core) Arrive(t *Task, now int64) (granted, refused bool) {
	t.arrived, t.since = now, now
	t.enter(Queued, now)
	c.charge(t)
	if i := c.freeSlot(); i >= 0 && !c.held() {
		c.begin(t)
		c.grant(t, i, now)
		return true, false
	}
	if c.cfg.MaxQueue > 0 && c.wait.newcomers() >= c.cfg.MaxQueue {
		c.end(t, now)
		return false, true
	}
	c.wait.push(t)
	return false, false
}

// held reports whether new tasks must wait although a slot is free.
func (c *Core) held() bool {
	return c.holds > 0 || c.cfg.MaxStarted > 0 && c.started >= c.cfg.MaxStarted
}

// freeSlot returns a usable slot without a task, or -1. A free slot is clean: whoever empties a
// slot resumes what is suspended in it; and while a usable slot is free nobody waits who could take
// it, and nobody is suspended anywhere.
func (c *Core) freeSlot() int {
	if c.busy+c.open == len(c.slots) {
		return -1
	}
	for i := range c.slots[:c.usable] {
		if c.slots[i].current == nil && !c.slots[i].open {
			return i
		}
	}
	return -1
}

func (c *Core) grant(t *Task, i int, now int64) {
	t.enter(Running, now)
	t.slot = int32(i)
	c.slots[i].current = t
	c.setBusy(c.busy+1, now)
}

// vacate takes t's slot from it and returns the slot's index.
func (c *Core) vacate(t *Task, now int64) int {
	if t.state != Running {
		panic("sched: a task gives up its slot and is " + t.state.String())
	}
	i := int(t.slot)
	c.slots[i].current = nil
	t.slot = -1
	c.setBusy(c.busy-1, now)
	return i
}

func (c *Core) setBusy(n int, now int64) {
	now = max(now, c.busyAt)
	c.busyTime += int64(c.busy) * (now - c.busyAt)
	c.busy, c.busyAt = n, now
}

// Exit ends t, which runs, runs on without its slot, or is blocked.
func (c *Core) Exit(t *Task, now int64) {
	switch t.state {
	case Running:
		c.vacate(t, now)
	case Lent, Blocked:
	default:
		panic("sched: exit of a task that is " + t.state.String())
	}
	c.end(t, now)
	c.started--
	c.fillAll(now) // all, because others may have waited for started to fall
}

// Withdraw takes a task that still waits for its first slot out of the queue. It reports false when
// the slot came first.
func (c *Core) Withdraw(t *Task, now int64) bool {
	if t.state != Queued {
		return false
	}
	c.wait.remove(t)
	c.end(t, now)
	return true
}

// begin notes that t starts.
func (c *Core) begin(t *Task) {
	c.started++
	c.virtual = max(c.virtual, t.tag)
}

// end ends t, and settles what its group was charged for it.
func (c *Core) end(t *Task, now int64) {
	t.enter(Done, now)
	t.settle()
}
