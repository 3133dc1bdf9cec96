package sched

// Group is the account of tasks that belong together, those of a tenant, kept on every move of one
// of them. The shell makes groups, and reads them as it calls the core's methods: one at a time. A
// move costs a few nanoseconds.
type Group struct {
	Weight int64 // its share relative to other groups; 0 counts as 1

	count   [Done + 1]int
	running int64 // integral of the tasks that run over time, up to at
	at      int64
	finish  int64 // where its next task starts in virtual time, see share.go
}

// Live returns how many of the group's tasks have arrived and not ended.
func (g *Group) Live() (n int) {
	for s := Queued; s < Done; s++ {
		n += g.count[s]
	}
	return n
}

// Waiting returns how many of them wait for a slot.
func (g *Group) Waiting() int { return g.count[Queued] + g.count[Ready] }

// Busy returns how many of them run.
func (g *Group) Busy() int { return g.count[Running] + g.count[Lent] }

// Ended returns how many tasks have ended, those that never started included.
func (g *Group) Ended() int { return g.count[Done] }

// Running returns the running time of all tasks so far, in nanoseconds.
func (g *Group) Running(now int64) int64 {
	return g.running + int64(g.Busy())*max(0, now-g.at)
}

func (g *Group) move(from, to State, now int64) {
	now = max(now, g.at)
	g.running, g.at = g.Running(now), now
	if from != New {
		g.count[from]--
	}
	g.count[to]++
}
