// Package sched is the scheduler's decision core. It decides which tasks run, wait and are
// suspended. It is pure: it has no goroutines, channels, locks or clocks. The shell passes times
// and events as arguments, and gets back the list of tasks that were granted a slot. The runtime is
// one shell, the tests and simulators are others. A shell must serialise all calls. Times are
// nanoseconds of one clock. A time may be earlier than the previous one, if the shell read it
// before it took its lock; it then counts as the previous time.
package sched

// Kind says how a task may be interleaved with others, as a set of bits.
type Kind uint8

const (
	Atomic      Kind = 0 // never switched out
	Preemptible Kind = 1 // may be suspended at a safe point
	Safe        Kind = 2 // may run while a preemptible task is suspended half-way
)

// State is where a task stands with its loop.
type State uint8

const (
	New       State = iota // not yet arrived
	Queued                 // arrived, waits for its first slot
	Running                // holds a slot
	Suspended              // switched out half-way
	Blocked                // gave its slot up to wait for something else
	Ready                  // has run before, waits for a slot again
	Lent                   // runs although its slot was lent to another
	Done                   // ended
)

func (s State) String() string {
	return [...]string{"new", "queued", "running", "suspended", "blocked", "ready", "lent", "done"}[s]
}

// Account is where a task's time went, in nanoseconds.
type Account struct {
	Queued    int64 // waiting for a slot, before the first and after a block
	Running   int64 // holding a slot, or running on while its slot is lent
	Suspended int64
	Blocked   int64
	// with a slot or lent, and without a processor; Discount moves it here from Running
	Starved     int64
	Preemptions int64 // how often it was switched out
}

// Task is the core's part of a task. Between Arrive and Exit only the core writes to it.
type Task struct {
	Kind  Kind
	Loose bool // it may start over a suspended task when it has waited long: see Config.Patience
	Owner any  // the shell's own record of the task; Reset keeps it

	// Set after Reset and before the task arrives, if at all.
	Group   *Group // the group that t belongs to
	Cost    int64  // the expected running time in ns, for the shares of the groups
	Expects int64  // the same, for Core.Expected; 0: unknown, or not needed

	class   *Tally // see CountIn
	account Account
	state   State
	slot    int32  // the slot it holds, or is suspended in; -1 otherwise
	at      int32  // its place in the queue's heap, if there is one
	place   place  // in the queue, see rank.go
	seq     uint64 // order of waiting: the smaller came first
	since   int64  // when t entered its state
	arrived int64
	tag     int64 // its start in the virtual time of the shares, see share.go
	immune  int64 // until then t is not switched out, because it was passed over too long
	prev    *Task
	next    *Task
}

// Reset makes t ready for a new life.
func (t *Task) Reset(k Kind) { *t = Task{Kind: k, Owner: t.Owner, slot: -1} }

// Forget drops what t refers to, after its end: its group and its tally.
func (t *Task) Forget() { t.Group, t.class = nil, nil }

// State returns where t stands.
func (t *Task) State() State { return t.state }

// Arrived returns when t arrived.
func (t *Task) Arrived() int64 { return t.arrived }

// Since returns when t entered its present state.
func (t *Task) Since() int64 { return t.since }

// Slot returns the slot that t holds or is suspended in, or -1.
func (t *Task) Slot() int { return int(t.slot) }

// Rank returns t's rank, see Core.SetRank.
func (t *Task) Rank() int64 { return t.place.rank }

// Background reports whether t is of the background, see Core.SetBackground.
func (t *Task) Background() bool { return t.place.background }

// Tag returns where t starts in the virtual time of the shares; 0 without a group.
func (t *Task) Tag() int64 { return t.tag }

// Immune returns until when t is not switched out, because it was passed over too long.
func (t *Task) Immune() int64 { return t.immune }

// Account returns t's account up to now.
func (t *Task) Account(now int64) Account {
	a := t.account
	a.add(t.state, max(0, now-t.since))
	return a
}

// Ran returns how long t has run up to now.
func (t *Task) Ran(now int64) int64 {
	if t.state == Running || t.state == Lent {
		return t.account.Running + max(0, now-t.since)
	}
	return t.account.Running
}

// Count adds to the running time of t up to d of the time that counts as blocked: its goroutine ran
// then. It returns how much it added.
func (t *Task) Count(d, now int64) (added int64) {
	blocked := t.account.Blocked
	if t.state == Blocked {
		blocked += max(0, now-t.since)
	}
	if d = min(d, blocked); d <= 0 {
		return 0
	}
	t.account.Running += d
	t.account.Blocked -= d
	if t.Group != nil {
		t.Group.running += d
	}
	return d
}

// Discount subtracts d from the running time of a task that runs: for that time the task held its
// slot and waited for something else (blocked), or for a processor. The shell must not report the
// same time twice.
func (t *Task) Discount(d int64, blocked bool, now int64) {
	d = max(0, min(d, t.Ran(now))) // a caller with an earlier now may come later: then Ran is below 0
	t.account.Running -= d
	if blocked {
		t.account.Blocked += d
	} else {
		t.account.Starved += d
	}
	if t.Group != nil {
		t.Group.running -= d
	}
}

func (a *Account) add(s State, d int64) {
	switch s {
	case Queued, Ready:
		a.Queued += d
	case Running, Lent:
		a.Running += d
	case Suspended:
		a.Suspended += d
	case Blocked:
		a.Blocked += d
	}
}

// enter moves t to state s and charges the time since its last move.
func (t *Task) enter(s State, now int64) {
	now = max(now, t.since)
	t.account.add(t.state, now-t.since)
	if t.Group != nil {
		t.Group.move(t.state, s, now)
	}
	if t.class != nil {
		t.class.move(t.state, s)
	}
	t.state, t.since = s, now
}
