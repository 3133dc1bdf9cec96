package sched

// Shares: groups get slot time in proportion to their weights when their tasks start in the order
// of their tags. It is start-time fair queueing (Goyal, Vin, Cheng: Start-time Fair Queuing,
// SIGCOMM 1996), for several slots as in SFQ(D) (Jin, Chase, Kaur: Interposed Proportional Sharing
// for a Storage Service Utility, SIGMETRICS 2004):
//
//	tag of a task  = max(virtual time, finish of its group)
//	finish         = tag + cost / weight
//	virtual time   = the greatest tag of the tasks that have started
//
// So a group that was idle has no credit, and a group that was alone has no debt. If two groups
// always have a task waiting, their slot times over weight differ by no more than their longest
// tasks over weight, times the slots plus one.
//
// Packets have a known length and tasks do not. The cost is an estimate, and when the task ends,
// the finish is corrected by the error. So a wrong estimate delays the right shares by as many
// tasks as the group had waiting, and does not change them.
//
// Tags are kept whether they are used as ranks or not: they cost two additions and a division.

// charge sets the tag of t, which arrives.
func (c *Core) charge(t *Task) {
	if g := t.Group; g != nil {
		t.tag = max(c.virtual, g.finish)
		g.finish = saturate(t.tag, t.Cost/g.weight())
	}
}

// settle corrects the charge of the group of t, which has ended.
func (t *Task) settle() {
	if g := t.Group; g != nil {
		g.finish = saturate(g.finish, (t.account.Running-t.Cost)/g.weight())
	}
}

func (g *Group) weight() int64 { return max(1, g.Weight) }

// maxVirtual keeps virtual time from overflowing, whatever costs are declared: about 73 years.
const maxVirtual = 1 << 61

func saturate(a, b int64) int64 {
	return min(max(a+min(max(b, -maxVirtual), maxVirtual), 0), maxVirtual)
}
