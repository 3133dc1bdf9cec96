package cocoon

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// stateVar is a registered or private state: policies write it, tasks read it.
type stateVar struct {
	typ     stubs.Type
	perLoop bool          // what it declares: each loop has one like it
	first   uint64        // its value when it was registered
	word    atomic.Uint64 // written as step says

	// What observing policies have made of it since an enforcing one wrote it, for them to read.
	shadow   atomic.Uint64
	shadowed atomic.Bool

	trends atomic.Pointer[[]*trend] // that policies read of it; nil: none. Replaced with regMu held
}

// value returns the word that a policy reads.
func (v *stateVar) value(observing bool) uint64 {
	if observing && v.shadowed.Load() {
		return v.shadow.Load()
	}
	return v.word.Load()
}

// write writes the word for a policy.
func (v *stateVar) write(word uint64, observing bool) {
	if observing || v.shadowed.Load() {
		v.writeBeside(word, observing)
	} else {
		v.word.Store(word)
	}
}

// writeBeside is write where there is a shadow, or shall be.
func (v *stateVar) writeBeside(word uint64, observing bool) {
	v.shadowed.Store(observing)
	if observing {
		v.shadow.Store(word)
	} else {
		v.word.Store(word)
	}
}

func newState(typ stubs.Type, first uint64) *stateVar {
	v := &stateVar{typ: typ, first: first}
	v.word.Store(first)
	return v
}

// newStates checks and encodes the states of a registration.
func newStates(values map[string]any) (map[string]*stateVar, error) {
	states := make(map[string]*stateVar, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !validName(name) {
			return nil, fmt.Errorf("cocoon: state %q: a name has letters, digits and '_', and begins with no digit", name)
		}
		first, perLoop := policy.FirstValue(values[name])
		word, typ, err := stubs.Word(first)
		if f, ok := first.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
			err = fmt.Errorf("%v; want a finite number", f)
		}
		if err == nil && typ == stubs.Name {
			err = fmt.Errorf("a string; want bool, int, int64, float64 or time.Duration")
		}
		if err != nil {
			return nil, fmt.Errorf("cocoon: state %q is %w", name, err)
		}
		states[name] = newState(typ, word)
		states[name].perLoop = perLoop
	}
	return states, nil
}

func validName(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != "" && len(s) <= 128
}

// RegisterState makes states that policies may write, by set("name", value), and tasks may read, by
// State. A value is a bool, int, int64, float64 or time.Duration, and the state keeps that type.
// Either all are registered or, on an error, none.
func (rt *Runtime) RegisterState(values map[string]any) error {
	states, err := newStates(values)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(states)) {
		if states[name].perLoop {
			return fmt.Errorf("cocoon: state %q is one of each loop; only a private state of a policy can be", name)
		}
	}
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	all := maps.Clone(*rt.states.Load())
	for _, name := range slices.Sorted(maps.Keys(states)) {
		if all[name] != nil {
			return fmt.Errorf("cocoon: state %q: %w", name, ErrDuplicate)
		}
		all[name] = states[name]
	}
	rt.states.Store(&all)
	return nil
}

// State returns the value of a registered state: bool, int64, float64 or time.Duration; nil when
// there is none of that name. Reading costs a map look-up and an atomic load.
func (rt *Runtime) State(name string) any {
	v := (*rt.states.Load())[name]
	if v == nil {
		return nil
	}
	return stubs.Value(v.word.Load(), v.typ)
}

// StateBool returns a registered state of type bool without allocating; false when there is none.
func (rt *Runtime) StateBool(name string) bool {
	v := (*rt.states.Load())[name]
	return v != nil && v.typ == stubs.Bool && v.word.Load() != 0
}
