package cocoon

import (
	"maps"
	"time"

	"github.com/cocoon-go/cocoon/notify"
)

// Stats is a snapshot of a runtime.
type Stats struct {
	Started time.Time // when the runtime was made

	Tasks     int64 // tasks that have not ended
	LinesLost int64 // lines that never reached Config.Logger, or at which it panicked

	// Unkept counts tasks and sections with a name that the runtime could not store: a name of more
	// than 1024 bytes, or a new name when 65,536 names of tasks, or 16,384 names of sections, are
	// stored. Policies apply to them as to all other tasks. The runtime keeps no average cost for
	// them, and looks each of them up again, which takes about 0.1 µs (BenchmarkCosts).
	Unkept int64

	Seed     uint64 // Config.Seed, or what was drawn in its place
	Loops    []LoopStats
	Policies map[string]PolicyStats // in force

	// Ended has the counters of the last 64 policies no longer in force: they were
	// cancelled, have cancelled themselves, or are no longer in their document, or the runtime has
	// shut down. Policies of one name count together. The key "*" has the sum of earlier ones. A
	// policy that was switched off after failures stays in Policies.
	Ended map[string]PolicyStats

	// of keyed states; a private one as POLICY.NAME, of all loops together
	States map[string]StateStats

	// Documents has the files that LoadPolicyFile and WatchPolicyFile were called with, by the name
	// in the last call for each file.
	Documents map[string]DocumentStats

	// Unmet lists, sorted, the names that have matched nothing yet. It covers names of tasks in
	// documents, RegisterSafeFunc and RegisterPreemptibleFunc; names in time limits and in Match;
	// in expressions of policies, the names of tasks, sections, loops, tenants, labels, their
	// values, and events, patterns of all these, and constant keys of states that policies only
	// read; the events of OnNotify and of event: in documents; the label and the listed tenants of
	// Tenants; the label of a canary; and, from a minute after the first task on, entries of never-unwind that match no
	// function of the program. A name that stays here may be misspelt, or its function may not be a
	// section because cocoon build did not know of its limit. The name of a task that only sections
	// have had stays here, and the reverse. Names of functions that policies may call are left out.
	// The runtime logs the names a minute after the first task, and loops a few seconds after a
	// policy names them.
	Unmet []string
}

// LoopStats is a snapshot of a loop.
type LoopStats struct {
	Name       string
	Slots      int
	Busy       int // slots taken
	Queued     int // tasks that wait for a slot
	QueuedSafe int // the safe tasks among them
	Suspended  int // tasks suspended half-way
	Lent       int // tasks that run on although their slots were lent
	// Parked counts tasks in an unannounced wait without their slots, which were lent, and tasks
	// that stand aside.
	Parked      int
	Utilization float64 // share of slot time in use over about 100 ms, or since it was last read, 0 to 1
	// Saturated says that goroutines wait for processors all the time. The loop's tasks may run
	// without slots then, and Utilization says little. The value is up to 100 ms old, and false if
	// nothing has asked for a while. It is always false for an exclusive loop.
	Saturated bool

	Ended   int64   // tasks that have ended after they started
	Refused int64   // tasks that never started: refused, or cancelled before; the sum of Refusals
	Stalls  int64   // slots lent because their tasks passed no safe point
	Waits   int64   // slots lent because their tasks waited unannounced, see Block
	Void    int64   // throws into sections that had ended by themselves
	Account Account // sum over the tasks that have ended; SafePoints is not summed

	Refusals Refusals

	// BusyTime is the sum over the slots of the time in which a task held the slot, outside of
	// Block. It grows while tasks run, and never falls.
	BusyTime time.Duration

	// Crowded counts names of tasks that found no room among the 1024 whose figures policies read
	// as class.*: another name's figures made room, or the tasks are counted with others.
	Crowded int64

	// Tenants is the account of each tenant on the loop; nil unless tenants are registered.
	Tenants map[string]TenantStats

	Queueing    Histogram // time a task waited for slots, one value for each task that ended
	ToSafePoint Histogram // time from a request to the safe point that handled it
}

// Stats returns a snapshot. It takes each loop's lock once, for about a microsecond; running tasks
// do not notice.
func (rt *Runtime) Stats() Stats {
	st := Stats{Started: rt.started, Tasks: rt.alive(), LinesLost: rt.log.missing(), Unkept: rt.naming.unkept.Load(), Seed: rt.cfg.Seed, Policies: map[string]PolicyStats{}}
	for _, l := range *rt.loops.Load() {
		st.Loops = append(st.Loops, l.Stats())
	}
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	for name, r := range rt.policies {
		st.Policies[name] = r.counted()
	}
	st.Ended = maps.Clone(rt.endedPolicies.stats)
	st.States = rt.stateStats()
	st.Documents = rt.documentStats()
	st.Unmet = rt.unmet()
	return st
}

// Stats returns a snapshot of the loop.
func (l *Loop) Stats() LoopStats {
	l.lock()
	defer l.unlock()
	now := notify.Now()
	load := l.load(now)
	quick, running := l.quickEnded()
	account, queueing := accountOf(l.stats.account, 0), l.stats.queueing.snapshot()
	account.Running += time.Duration(running)
	queueing.Zero += quick // they did not wait
	refusals := l.stats.refused.snapshot()
	// While the end of a rest is being recorded, the sum may be too small.
	l.stats.busyTime = max(l.stats.busyTime, load.BusyTime)
	return LoopStats{
		Name: l.cfg.Name, Slots: load.Slots, Busy: load.Busy, Queued: load.Waiting, QueuedSafe: load.WaitingSafe,
		Suspended: load.Suspended, Lent: len(l.absent.lent), Parked: len(l.absent.parked), Utilization: l.utilization(now),
		Saturated: l.lends() && l.rt.warmth.knownFull(now),
		Ended:     l.stats.done + quick, Refused: refusals.sum(), Refusals: refusals, Stalls: l.stats.stalls.Load(), Waits: l.stats.waits.Load(), Void: l.stats.void.Load(),
		Account:  account,
		BusyTime: time.Duration(l.stats.busyTime),
		Crowded:  l.meter.crowdedOut(),
		Tenants:  l.tenantStats(now),
		Queueing: queueing, ToSafePoint: l.stats.toSafePoint.snapshot(),
	}
}
