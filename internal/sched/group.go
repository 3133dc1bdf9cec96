package sched

// Group is the account of tasks that belong together, those of a tenant, kept on every move of one
// of them. The shell makes groups, and reads them as it calls the core's methods: one at a time. A
// move costs a few nanoseconds.
type Group struct {
	Weight int64 // its share relative to other groups; 0 counts as 1

	Tally
	running int64 // integral of the tasks that run over time, up to at
	at      int64
	finish  int64 // where its next task starts in virtual time, see share.go
}

// Running returns the running time of all tasks so far, in nanoseconds.
func (g *Group) Running(now int64) int64 {
	return g.running + int64(g.Busy())*max(0, now-g.at)
}

func (g *Group) move(from, to State, now int64) {
	now = max(now, g.at)
	g.running, g.at = g.Running(now), now
	g.Tally.move(from, to)
}
