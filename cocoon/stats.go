package cocoon

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/notify"
)

// Histogram counts durations: Counts[i] those of 2^i to 2^(i+1) ns, exclusive.
type Histogram struct {
	Counts [48]int64
}

// Quantile returns a duration that the share q (0 to 1) of the values do not exceed, exact to a
// factor of two; 0 without values.
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

	starvedLogs seldom
	void        atomic.Int64
	reports     seldom // of stalls

	// Guarded by mu.
	done        int64         // tasks that have ended, but for those in open slots
	account     sched.Account // of these
	queueing    Histogram     // of these
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
	Tasks     int64 // that have not ended
	LinesLost int64 // that Config.Logger never got, or panicked at

	// Unkept counts tasks and sections that came with a name for which the runtime has no room: one
	// of more than 1024 bytes, or a new one when 65,536 names of tasks, or 16,384 of sections, were
	// there. Policies apply to them as to all others, but no average cost is kept of them, and each
	// is looked up anew, which takes about 1 µs.
	Unkept int64

	Loops    []LoopStats
	Policies map[string]PolicyStats

	// Unmet are the names that nothing has had yet, sorted: of tasks that documents,
	// RegisterSafeFunc and RegisterPreemptibleFunc say something of; of time limits and of Match;
	// and in expressions of policies, of tasks, sections, loops, tenants, labels and their values,
	// and events. One that stays here may be misspelt, or no section because cocoon build did not
	// know of its limit. Functions that policies may call are left out. The names are logged when
	// tasks have come for a minute.
	Unmet []string
}

// LoopStats is a snapshot of a loop.
type LoopStats struct {
	Name        string
	Slots       int
	Busy        int     // slots taken
	Queued      int     // tasks that wait for a slot
	QueuedSafe  int     // the safe ones among them
	Suspended   int     // tasks suspended half-way
	Lent        int     // tasks that run on although their slot was lent
	Parked      int     // tasks that wait unannounced, and whose slot was lent, or that stand aside
	Utilization float64 // share of slot time in use over about 100 ms, or since it was last read, 0 to 1

	Ended   int64   // tasks that have ended after they started
	Refused int64   // tasks that never started: refused, or cancelled before
	Stalls  int64   // slots lent because their tasks passed no safe point
	Waits   int64   // slots lent because their tasks waited unannounced, see Block
	Void    int64   // throws whose section had ended by itself
	Account Account // of the tasks that have ended, summed; SafePoints is not summed

	// Crowded counts names of tasks that found no room among the 1024 whose figures policies read
	// as class.*: another name's figures made room, or the tasks are counted with others.
	Crowded int64

	// Tenants is the account of each tenant on the loop; nil unless tenants are registered.
	Tenants map[string]TenantStats

	Queueing    Histogram // time a task waited for slots, a value each task that ended
	ToSafePoint Histogram // time from a request to the safe point that answered it
}

// Stats returns a snapshot. It takes each loop's lock for about a microsecond, once; running tasks
// do not notice.
func (rt *Runtime) Stats() Stats {
	st := Stats{Tasks: rt.alive(), LinesLost: rt.log.missing(), Unkept: rt.naming.unkept.Load(), Policies: map[string]PolicyStats{}}
	for _, l := range *rt.loops.Load() {
		st.Loops = append(st.Loops, l.Stats())
	}
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	for name, r := range rt.policies {
		st.Policies[name] = r.counted()
	}
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
	logs, throwLogs                                  seldom // of what it would do, and of throws
	lastError                                        atomic.Pointer[string]
}

// PolicyStats counts what a policy did, over all its versions.
type PolicyStats struct {
	Evaluations int64 // ticks at which the policy could only continue are left out, and not counted
	Throws      int64 // into running tasks
	Refusals    int64 // of arriving tasks
	Switches    int64 // requests to switch
	Effects     int64

	// In observe mode. A task counts once for each throw that would have ended it or one of its
	// sections, refusals included, and once for each time in a slot that a switch would have ended.
	WouldThrow, WouldSwitch, WouldEffect int64

	Mode Mode // as it counts: that of the policy or of the runtime, whichever is greater

	Clamped   int64         // intervals out of bounds that interval() asked for, and the nearest one came of
	Errors    int64         // evaluations that erred
	LastError string        // of the last of them
	Off       bool          // cancelled, or switched off after failures
	Interval  time.Duration // of a time policy in force: the least of its loops, for it may have changed it on one
}

func (s *policyStats) snapshot() PolicyStats {
	st := PolicyStats{
		Evaluations: s.evaluations.Load(), Throws: s.throws.Load(), Refusals: s.refusals.Load(),
		Switches: s.switches.Load(), Effects: s.effects.Load(),
		WouldThrow: s.wouldThrow.Load(), WouldSwitch: s.wouldSwitch.Load(), WouldEffect: s.wouldEffect.Load(),
		Errors: s.errors.Load(), Clamped: s.clamped.Load(),
	}
	if e := s.lastError.Load(); e != nil {
		st.LastError = *e
	}
	return st
}
