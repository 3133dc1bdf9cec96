package cocoon

import (
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// stateVar is a registered or private state. Policies write it, and tasks read it.
type stateVar struct {
	policy.State               // the declaration at its creation
	table        *stateTable   // of a keyed state or a bucket; else nil
	word         atomic.Uint64 // of other states; written as described at steps

	// The value written by observing policies since an enforcing policy last wrote the state. Only
	// observing policies read it.
	shadow   atomic.Uint64
	shadowed atomic.Bool

	asked atomic.Bool // a task has read the state

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

// writeBeside is write for a state that has a shadow, or needs one.
func (v *stateVar) writeBeside(word uint64, observing bool) {
	v.shadowed.Store(observing)
	if observing {
		v.shadow.Store(word)
	} else {
		v.word.Store(word)
	}
}

func newState(s policy.State) *stateVar {
	v := &stateVar{State: s}
	v.word.Store(s.First)
	if s.Keys > 0 || s.IsBucket() {
		v.table = newStateTable(s)
	}
	return v
}

// RegisterState makes states that policies may write, with set("name", value), and tasks may read,
// with State. A value is a bool, int, int64, float64 or time.Duration, and the state keeps that
// type; or it is a Bucket, from which policies take() tokens, or Keyed, with a value or bucket for
// each key. On an error, RegisterState registers none of the states.
func (rt *Runtime) RegisterState(values map[string]any) error {
	states, err := policy.StatesOf(values)
	if err != nil {
		return fmt.Errorf("cocoon: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(states)) {
		if states[name].PerLoop {
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
		all[name] = newState(states[name])
	}
	rt.states.Store(&all)
	return nil
}

// State returns the value of a registered state: bool, int64, float64 or time.Duration; for a
// Bucket, its current tokens as a float64. A Keyed state needs the key, the strings and ints that
// its declaration names: State("spent", "gold"). A missing key has the first value, and reading a
// key does not protect it from eviction. State returns nil when there is no state of that name, or
// the key is of other types or has other parts.
//
// Reading costs a map look-up and an atomic load; a Keyed state or a Bucket also costs the default
// loop's lock.
func (rt *Runtime) State(name string, key ...any) any {
	v := rt.stateFor(name)
	switch {
	case v == nil || v.table == nil && len(key) > 0:
		return nil
	case v.table != nil:
		return rt.stateByKey(v, key)
	}
	return stubs.Value(v.word.Load(), v.Type)
}

// StateBool returns a registered state of type bool without allocating; false if there is none, or
// it has keys.
func (rt *Runtime) StateBool(name string) bool {
	v := rt.stateFor(name)
	return v != nil && v.table == nil && v.Type == stubs.Bool && v.word.Load() != 0
}

// stateFor returns the registered state that a task reads, or nil.
func (rt *Runtime) stateFor(name string) *stateVar {
	v := (*rt.states.Load())[name]
	if v != nil && !v.asked.Load() {
		v.asked.Store(true)
	}
	return v
}
