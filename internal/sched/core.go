package sched

// Config configures a loop.
type Config struct {
	Slots      int   // how many tasks run at once; at least 1
	MaxQueue   int   // how many new tasks may wait, more are refused; 0: no bound
	MaxStarted int   // how many tasks may have started and not ended, more wait; 0: no bound
	MaxBypass  int64 // ns a task is passed over before the rest give way (see fill.go); 0: no bound
	Patience   int64 // ns a loose task waits before it may start over suspended tasks; 0: no bound
}

// slot is the right to run. While tasks are suspended in it, only safe tasks start in it, and loose
// ones, which are atomic; so only the first suspended task can be unsafe.
type slot struct {
	current   *Task
	open      bool  // owned by the shell, see open.go
	suspended list  // in order of suspension
	passed    int64 // since when none of the suspended tasks was resumed
}

// suspend puts t, which ran in the slot, among the suspended.
func (s *slot) suspend(t *Task, now int64) {
	if s.suspended.n == 0 {
		s.passed = now
	}
	s.suspended.push(t)
}

// Core decides for one loop. Methods that free or fill slots record the tasks to which they granted
// a slot, and Granted returns them. The task that a method is called for is not among them, unless
// the method's comment says so.
type Core struct {
	cfg     Config
	slots   []slot
	usable  int // slots that take new tasks, the first ones; see resize.go
	wait    waiting
	holds   int
	started int // tasks that have started and not ended
	busy    int // slots with a current task
	open    int // open slots
	susp    int // suspended tasks, in all slots
	granted []*Task
	virtual int64 // the virtual time of the shares, see share.go

	busyTime int64 // integral of busy over time, up to busyAt
	busyAt   int64
}

// NewCore returns a core with all slots free.
func NewCore(cfg Config) *Core {
	return &Core{cfg: cfg, slots: make([]slot, cfg.Slots), usable: cfg.Slots, granted: make([]*Task, 0, cfg.Slots)}
}

// Granted returns the tasks that got a slot since the last call. The slice is valid until the next
// method call.
func (c *Core) Granted() []*Task {
	g := c.granted
	c.granted = c.granted[:0]
	return g
}

// Arrive admits a new task: it gets a slot at once (and then does not appear in Granted), waits, or
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

// freeSlot returns a usable slot without a task, or -1. A free slot is clean, because a call that
// empties a slot resumes the tasks suspended in it. While a usable slot is free, no waiting task
// could take it, and no task is suspended anywhere.
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
	c.fillAll(now) // all, because tasks may have waited for started to fall
}

// Withdraw removes a task that still waits for its first slot from the queue. It reports false if
// the task has got a slot first.
func (c *Core) Withdraw(t *Task, now int64) bool {
	if t.state != Queued {
		return false
	}
	c.wait.remove(t)
	c.end(t, now)
	return true
}

// begin records that t starts.
func (c *Core) begin(t *Task) {
	c.started++
	c.virtual = max(c.virtual, t.tag)
}

// end ends t, and settles the charge of its group.
func (c *Core) end(t *Task, now int64) {
	t.enter(Done, now)
	t.settle()
}
