package cocoon

import (
	"cmp"
	"slices"

	"github.com/cocoon-go/cocoon/internal/states"
	"github.com/cocoon-go/cocoon/stubs"
)

// StateValue is the value of a state without keys.
type StateValue struct {
	Policy string // of a private state; "" for a registered one
	Loop   string // of a state that each loop has for itself; otherwise ""
	Name   string
	Value  any // bool, int64, float64 or time.Duration; of a Bucket its tokens, a float64
}

// StateValues returns the values of all states without keys, registered and private, sorted by
// policy, name and loop. Stats has the figures of states with keys. A value costs an atomic load,
// and a bucket's the default loop's lock.
func (rt *Runtime) StateValues() (all []StateValue) {
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	add := func(policy, loop, name string, v *states.Var) {
		if v == nil || v.Keys > 0 {
			return
		}
		value := stubs.Value(v.Word(), v.Type)
		if v.HasKeys() {
			value = rt.stateByKey(v, nil)
		}
		all = append(all, StateValue{policy, loop, name, value})
	}
	for name, v := range *rt.states.Load() {
		add("", "", name, v)
	}
	for _, r := range rt.policies {
		for name := range r.now.spec.State {
			v := r.now.states[name]
			if v == nil || !v.PerLoop {
				add(r.name, "", name, v)
				continue
			}
			for _, b := range r.now.bounds {
				add(r.name, b.loop.cfg.Name, name, b.states.Own(name))
			}
		}
	}
	slices.SortFunc(all, func(a, b StateValue) int {
		return cmp.Or(cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Loop, b.Loop))
	})
	return all
}
