package cocoon

import "slices"

// maxEnded is the number of names of ended policies whose counters are kept one by one.
const maxEnded = 64

// endedOthers is the key of the counters of all other ended policies. No policy has this name.
const endedOthers = "*"

// endedPolicies keeps the counters of policies that are no longer in force, so that none vanishes
// together with its policy. Guarded by regMu.
type endedPolicies struct {
	names []string // in the order in which they ended
	stats map[string]PolicyStats
}

// add adds the counters of a policy that has ended.
func (e *endedPolicies) add(name string, st PolicyStats) {
	if e.stats == nil {
		e.stats = map[string]PolicyStats{}
	}
	e.names = slices.DeleteFunc(e.names, func(n string) bool { return n == name })
	e.names = append(e.names, name)
	e.stats[name] = e.stats[name].plus(st)
	if len(e.names) > maxEnded {
		oldest := e.names[0]
		e.names = slices.Delete(e.names, 0, 1)
		e.stats[endedOthers] = e.stats[endedOthers].plus(e.stats[oldest])
		delete(e.stats, oldest)
	}
}

// plus returns the sum of the counters; its other fields are copied from other, which is newer.
func (s PolicyStats) plus(other PolicyStats) PolicyStats {
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
