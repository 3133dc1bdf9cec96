package cocoon

import (
	"slices"
	"time"
)

// maxEnded is the number of names of ended policies whose counters are kept one by one.
const maxEnded = 64

// endedOthers is the key of the counters of all other ended policies. No policy has this name.
const endedOthers = "*"

// endedPolicies keeps the counters of policies no longer in force, so that none vanishes
// together with its policy. Guarded by regMu.
type endedPolicies struct {
	names []string // in the order in which they ended
	stats map[string]PolicyStats
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

// add adds the counters of a policy that has ended.
func (e *endedPolicies) add(name string, st PolicyStats) {
	if e.stats == nil {
		e.stats = map[string]PolicyStats{}
	}
	e.names = slices.DeleteFunc(e.names, func(n string) bool { return n == name })
	e.names = append(e.names, name)
	e.stats[name] = e.stats[name].Plus(st)
	if len(e.names) > maxEnded {
		oldest := e.names[0]
		e.names = slices.Delete(e.names, 0, 1)
		e.stats[endedOthers] = e.stats[endedOthers].Plus(e.stats[oldest])
		delete(e.stats, oldest)
	}
}

// Plus returns the sum of the counters. It takes its other fields from other, which is newer: the
// counters in Stats.Ended plus the counters of the policy with the same name in force.
func (s PolicyStats) Plus(other PolicyStats) PolicyStats {
	sum := other
	sum.Evaluations += s.Evaluations
	sum.Throws += s.Throws
	sum.Refusals += s.Refusals
	sum.Switches += s.Switches
	sum.Effects += s.Effects
	sum.WouldThrow += s.WouldThrow
	sum.WouldSwitch += s.WouldSwitch
	sum.WouldEffect += s.WouldEffect
	sum.Clamped += s.Clamped
	sum.Errors += s.Errors
	if sum.LastError == "" {
		sum.LastError = s.LastError
	}
	return sum
}
