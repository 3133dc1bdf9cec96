package cocoon

import (
	"maps"
	"math"
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/notify"
)

// Histogram counts durations. Counts[i] counts durations from 2^i to 2^(i+1) ns, exclusive.
type Histogram struct {
	Counts [48]int64
}

// Quantile returns a duration that the share q (0 to 1) of the values do not exceed, exact to a
// factor of two. It returns 0 if there are no values.
func (h Histogram) Quantile(q float64) time.Duration {
	total := int64(0)
	for _, n := range h.Counts {
		total += n
	}
	left := max(1, int64(math.Ceil(q*float64(total))))
	for i, n := range h.Counts {
		if left -= n; left <= 0 {
			return time.Duration(1)<<(i+1) - 1
		}
	}
	return 0
}

func (h *Histogram) add(ns int64) { h.Counts[min(47, bits.Len64(uint64(max(1, ns)))-1)]++ }

// loopStats are a loop's counters.
type loopStats struct {
	refused atomic.Int64
	stalls  atomic.Int64
	waits   atomic.Int64
	starved atomic.Int64

	starvedLogs logLimit
	void        atomic.Int64
	reports     logLimit // limits reports of stalls

	// Guarded by mu.
	done        int64         // tasks that have ended, except tasks in open slots
	account     sched.Account // of the same tasks
	queueing    Histogram     // of the same tasks
	toSafePoint Histogram
}

// ended adds the account of a task that has ended. Called under the loop's lock.
func (s *loopStats) ended(a sched.Account) {
	s.done++
	s.account.Queued += a.Queued
	s.account.Running += a.Running
	s.account.Suspended += a.Suspended
	s.account.Blocked += a.Blocked
	s.account.Starved += a.Starved
	s.account.Preemptions += a.Preemptions
	s.queueing.add(a.Queued)
}

// Stats is a snapshot of a runtime.
type Stats struct {
	Tasks     int64 // tasks that have not ended
	LinesLost int64 // lines that never reached Config.Logger, or at which it panicked

	// Unkept counts tasks and sections with a name that the runtime could not store: a name of more
	// than 1024 bytes, or a new name when 65,536 names of tasks, or 16,384 names of sections, are
	// stored. Policies apply to them as to all other tasks. The runtime keeps no average cost for
	// them, and looks each one up anew, which takes about 0.1 µs (BenchmarkCosts).
	Unkept int64

	Seed     uint64 // Config.Seed, or what was drawn in its place
	Loops    []LoopStats
	Policies map[string]PolicyStats // in force

	// Ended has the counters of the last 64 policies that are no longer in force: they were
	// cancelled, have cancelled themselves, or are no longer in their document, or the runtime has
	// shut down. Policies of one name count together. The key "*" has the sum of earlier ones. A
	// policy that was switched off after failures stays in Policies.
	Ended map[string]PolicyStats

	// of keyed states; a private one as POLICY.NAME, of all loops together
	States map[string]StateStats

	// Unmet lists, sorted, the names that have matched nothing yet. It covers names of tasks in
	// documents, RegisterSafeFunc and RegisterPreemptibleFunc; names in time limits and in Match;
	// in expressions of policies, the names of tasks, sections, loops, tenants, labels, their
	// values, and events, and constant keys of states that policies only read; the events of
	// OnNotify and of event: in documents; the label and the listed tenants of Tenants; and, from a
	// minute after the first task on, entries of never-unwind that match no function of the
	// program. A name that stays here may be misspelt, or its function may not be a section because
	// cocoon build did not know of its limit. Names of functions that policies may call are left
	// out. The runtime logs the names a minute after the first task.
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

	Ended   int64   // tasks that have ended after they started
	Refused int64   // tasks that never started: refused, or cancelled before
	Stalls  int64   // slots lent because their tasks passed no safe point
	Waits   int64   // slots lent because their tasks waited unannounced, see Block
	Void    int64   // throws into sections that had ended by themselves
	Account Account // sum over the tasks that have ended; SafePoints is not summed

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
	st := Stats{Tasks: rt.alive(), LinesLost: rt.log.missing(), Unkept: rt.naming.unkept.Load(), Seed: rt.cfg.Seed, Policies: map[string]PolicyStats{}}
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
	account, queueing := accountOf(l.stats.account, 0), l.stats.queueing
	account.Running += time.Duration(running)
	queueing.Counts[0] += quick // they did not wait
	return LoopStats{
		Name: l.cfg.Name, Slots: load.Slots, Busy: load.Busy, Queued: load.Waiting, QueuedSafe: load.WaitingSafe,
		Suspended: load.Suspended, Lent: len(l.absent.lent), Parked: len(l.absent.parked), Utilization: l.utilization(now),
		Ended: l.stats.done + quick, Refused: l.stats.refused.Load(), Stalls: l.stats.stalls.Load(), Waits: l.stats.waits.Load(), Void: l.stats.void.Load(),
		Account:  account,
		Crowded:  l.meter.crowdedOut(),
		Tenants:  l.tenantStats(now),
		Queueing: queueing, ToSafePoint: l.stats.toSafePoint,
	}
}

// policyStats are a policy's counters.
type policyStats struct {
	evaluations, throws, refusals, switches, effects atomic.Int64
	wouldThrow, wouldSwitch, wouldEffect             atomic.Int64
	errors, clamped                                  atomic.Int64
	logs, throwLogs                                  logLimit // of dry runs; of throws
	lastError                                        atomic.Pointer[failure]
}

// PolicyStats counts the evaluations of a policy and their results, over all its versions.
type PolicyStats struct {
	Evaluations int64 // excluding ticks at which the policy could only continue, which are skipped
	Throws      int64 // throws into running tasks
	Refusals    int64 // refusals of arriving tasks
	Switches    int64 // requests to switch
	Effects     int64

	// In observe mode. A task counts once for each throw that would have ended the task or one of
	// its sections, including refusals, and once for each time in a slot that a switch would have
	// ended.
	WouldThrow, WouldSwitch, WouldEffect int64

	Mode Mode // the mode in effect: of the policy or of the runtime, whichever is greater

	// Clamped counts calls of interval() with an interval out of bounds, replaced by the nearest
	// bound.
	Clamped int64
	Errors  int64 // evaluations that failed
	// the most recent error: FILE:LINE:COLUMN: in a document, policy.expr:LINE:COLUMN: elsewhere
	LastError string
	Off       bool // cancelled, or switched off after failures
	// Interval is the shortest interval over the loops of a time policy in force; a policy can
	// change it on one loop.
	Interval time.Duration
}

func (s *policyStats) snapshot() PolicyStats {
	return PolicyStats{
		Evaluations: s.evaluations.Load(), Throws: s.throws.Load(), Refusals: s.refusals.Load(),
		Switches: s.switches.Load(), Effects: s.effects.Load(),
		WouldThrow: s.wouldThrow.Load(), WouldSwitch: s.wouldSwitch.Load(), WouldEffect: s.wouldEffect.Load(),
		Errors: s.errors.Load(), Clamped: s.clamped.Load(),
	}
}
