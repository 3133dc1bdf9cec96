package cocoon

import "github.com/cocoon-go/cocoon/internal/states"

// StateStats is a snapshot of a keyed state. It does not count the shadow that observing policies
// write.
type StateStats struct {
	Keys    int   // including expired keys that no evaluation has removed yet
	MaxKeys int   // as declared; for a private state of each loop, of all loops
	Evicted int64 // keys evicted for new ones
	Expired int64 // keys removed because their time to live was over
}

func (s *StateStats) add(of states.Stats) {
	s.Keys += of.Keys
	s.MaxKeys += of.MaxKeys
	s.Evicted += of.Evicted
	s.Expired += of.Expired
}

// stateStats returns the figures of all keyed states; nil when there are none. Called with regMu
// held.
func (rt *Runtime) stateStats() map[string]StateStats {
	var all map[string]StateStats
	add := func(name string, v *states.Var) {
		if v.Keys == 0 {
			return
		}
		if all == nil {
			all = map[string]StateStats{}
		}
		st := all[name]
		st.add(v.Stats())
		all[name] = st
	}
	for name, v := range *rt.states.Load() {
		add(name, v)
	}
	for _, r := range rt.policies {
		for name, v := range r.now.states {
			if _, private := r.now.spec.State[name]; !private {
				continue
			}
			if !v.PerLoop {
				add(r.name+"."+name, v)
				continue
			}
			for _, b := range r.now.bounds {
				if own := b.states.Own(name); own != nil {
					add(r.name+"."+name, own)
				}
			}
		}
	}
	return all
}
