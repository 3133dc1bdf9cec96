package cocoon

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/internal/states"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// RegisterState makes states that policies may write, with set("name", value), and tasks may read,
// with State. A value is a bool, int, int64, float64 or time.Duration, and the state keeps that
// type; or it is a Bucket, from which policies take() tokens, or Keyed, with a value or bucket for
// each key. On an error, RegisterState registers none of the states.
func (rt *Runtime) RegisterState(values map[string]any) error {
	declared, err := policy.StatesOf(values)
	if err != nil {
		return fmt.Errorf("cocoon: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if declared[name].PerLoop {
			return fmt.Errorf("cocoon: state %q is one of each loop; only a private state of a policy can be", name)
		}
	}
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	all := maps.Clone(*rt.states.Load())
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if all[name] != nil {
			return fmt.Errorf("cocoon: state %q: %w", name, ErrDuplicate)
		}
		all[name] = states.New(declared[name])
	}
	rt.states.Store(&all)
	return nil
}

// State returns the value of a registered state: bool, int64, float64 or time.Duration; for a
// Bucket, its current tokens as a float64. A Keyed state needs the key, the strings and ints that
// its declaration names: State("spent", "gold"). A missing key has the first value, and reading a
// key does not protect it from eviction. State returns nil when no state has the name, or the key
// is of other types or has other parts.
//
// Reading costs a map look-up and an atomic load; a Keyed state or a Bucket also costs the default
// loop's lock.
func (rt *Runtime) State(name string, key ...any) any {
	v := rt.stateFor(name)
	switch {
	case v == nil || !v.HasKeys() && len(key) > 0:
		return nil
	case v.HasKeys():
		return rt.stateByKey(v, key)
	}
	return stubs.Value(v.Word(), v.Type)
}

// StateBool returns a registered state of type bool without allocating; false if there is none, or
// it has keys.
func (rt *Runtime) StateBool(name string) bool {
	v := rt.stateFor(name)
	return v != nil && !v.HasKeys() && v.Type == stubs.Bool && v.Word() != 0
}

// stateFor returns the registered state that a task reads, or nil.
func (rt *Runtime) stateFor(name string) *states.Var {
	v := (*rt.states.Load())[name]
	if v != nil {
		v.Asked()
	}
	return v
}

// stateByKey implements State for a keyed state or a bucket.
func (rt *Runtime) stateByKey(v *states.Var, key []any) any {
	id, ok := v.By.Word(key...)
	if !ok {
		return nil
	}
	word := uint64(0)
	rt.betweenSteps(func() { word = v.Peek(id, notify.Now()) })
	return stubs.Value(word, v.Type)
}

// severalLoops makes steps safe on several loops. When it returns, every evaluation in progress
// knows that there are several loops. Called with regMu held, before other code sees a second loop.
func (rt *Runtime) severalLoops() {
	if !rt.steps.BecomeSeveral() {
		return
	}
	l := rt.Loop() // where an evaluation may be in progress
	l.lock()
	defer l.unlock()
}

// betweenSteps calls f while no evaluation that writes states is in progress.
func (rt *Runtime) betweenSteps(f func()) {
	l := rt.Loop()
	l.lock()
	defer l.unlock()
	rt.steps.Lock()
	defer rt.steps.Unlock()
	f()
}
