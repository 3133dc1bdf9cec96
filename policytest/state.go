package policytest

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/keyed"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// variable is a state, or a state on one loop.
type variable struct {
	policy.State
	words *keyed.Table // a state without keys is a table of the key 0
	// what observing policies have written, by key, since enforcing ones wrote it; or nil
	shadow *keyed.Table
	trends map[string]*trend
}

// trend is a rate or an average that policies read of a state.
type trend struct {
	main   ir.Trend
	shadow ir.Trend // as observing policies see it; valid while the state has a shadow
}

// trend returns the rate or average of the state that r reads.
func (v *variable) trend(r ir.Read) *trend {
	t := v.trends[r.String()]
	if t == nil {
		t = &trend{main: ir.NewTrend(r, v.Type, 0, v.First)} // the policies come into force at 0s
		v.trends[r.String()] = t
	}
	return t
}

func (t *trend) value(v *variable, observing bool, now int64) uint64 {
	word := v.at(0, observing, now)
	if observing && v.shadowed(0, now) {
		return t.shadow.Value(now, word)
	}
	return t.main.Value(now, word)
}

// newStates makes the declared states: a variable for each loop, or one for all loops.
func newStates(values map[string]any, loops []string) map[string]byLoop {
	states := map[string]byLoop{}
	for name, value := range values {
		s, _ := policy.StateOf(value)
		shared := newVariable(s)
		states[name] = byLoop{}
		for _, loop := range loops {
			if states[name][loop] = shared; s.PerLoop {
				states[name][loop] = newVariable(s)
			}
		}
	}
	return states
}

func newVariable(s policy.State) *variable {
	return &variable{State: s, words: newTable(s), trends: map[string]*trend{}}
}

func newTable(s policy.State) *keyed.Table { return keyed.New(max(s.Keys, 1), int64(s.TTL)) }

// at returns the current word of a key, or of a state without keys.
func (v *variable) at(key uint64, observing bool, now int64) uint64 {
	get := v.words.Get
	switch {
	case observing && v.shadowed(key, now):
		get = v.shadow.Get
	case observing: // a dry run does not count as a use of the key
		get = v.words.Peek
	}
	word, at, ok := get(key, now)
	switch {
	case !ok:
		return v.First
	case v.IsBucket():
		return math.Float64bits(keyed.Tokens(word, at, now, v.Bucket.Rate, v.Bucket.Burst))
	}
	return word
}

// shadowed reports whether observing policies see another value of the key than enforcing ones.
func (v *variable) shadowed(key uint64, now int64) bool {
	if v.shadow == nil {
		return false
	}
	_, _, ok := v.shadow.Peek(key, now)
	return ok
}

// put writes the word of a key for a policy.
func (v *variable) put(key, word uint64, observing bool, now int64) {
	was, begins := v.at(key, observing, now), observing && !v.shadowed(key, now)
	for _, t := range v.trends {
		if begins {
			t.shadow = t.main
		}
		if observing {
			t.shadow.Wrote(now, was, word)
		} else {
			t.main.Wrote(now, was, word)
		}
	}
	switch {
	case observing && v.shadow == nil:
		v.shadow = newTable(v.State)
		fallthrough
	case observing:
		v.shadow.Put(key, word, now)
		return
	case v.shadow != nil:
		v.shadow.Remove(key)
	}
	v.words.Put(key, word, now)
}

// give sets the state, or some of its keys, to values of a test. The state has no past then.
func (v *variable) give(name string, value any, now int64) error {
	return v.each(name, value, func(name string, key uint64, value any) error {
		word, err := v.wordFor(name, value)
		if err != nil {
			return err
		}
		v.put(key, word, false, now)
		for _, t := range v.trends {
			t.main.Restart(now, word)
		}
		return nil
	})
}

// each calls f with the values by key that a file of tests has for a state, and with the state's
// name in the file; once for a state without keys.
func (v *variable) each(name string, value any, f func(name string, key uint64, value any) error) error {
	byKey, hasKeys := value.(map[string]any)
	switch {
	case v.Keys == 0 && hasKeys:
		return fmt.Errorf("the state %s has no keys", name)
	case v.Keys > 0 && !hasKeys:
		return fmt.Errorf("the state %s has a value for each key; write {KEY: VALUE}", name)
	case v.Keys == 0:
		return f(name, 0, value)
	}
	return v.eachKey(name, byKey, nil, f)
}

// eachKey calls f with the values by key of a mapping; of pairs it has a mapping for each first
// part. before is the part around the mapping.
func (v *variable) eachKey(name string, values map[string]any, before []any, f func(name string, key uint64, value any) error) error {
	for _, text := range slices.Sorted(maps.Keys(values)) {
		here, part := fmt.Sprintf("%s[%q]", name, text), any(text)
		if v.By[len(before)] == stubs.Int {
			i, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return fmt.Errorf("the keys of the state %s are by %v, and %q is not an int", name, v.By, text)
			}
			here, part = fmt.Sprintf("%s[%d]", name, i), i
		}
		key := append(slices.Clone(before), part)
		word, whole := v.By.Word(key...)
		inner, pairs := values[text].(map[string]any)
		if pairs == whole {
			return fmt.Errorf("the keys of the state %s are by %v; write a mapping for each part", here, v.By)
		}
		err := error(nil)
		if whole {
			err = f(here, word, values[text])
		} else {
			err = v.eachKey(here, inner, key, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// wordFor encodes a value for a state; an integer may stand for a float.
func (v *variable) wordFor(name string, value any) (uint64, error) {
	if i, ok := value.(int64); ok && v.Type == stubs.Float {
		value = float64(i)
	}
	word, typ, err := stubs.Word(value)
	if err != nil || typ != v.Type {
		return 0, fmt.Errorf("the state %s is of type %v, and %v is none", name, v.Type, value)
	}
	if tokens, _ := value.(float64); v.IsBucket() && !(0 <= tokens && tokens <= v.Bucket.Burst) {
		return 0, fmt.Errorf("the bucket %s holds 0 to %v tokens, and this is %v", name, v.Bucket.Burst, tokens)
	}
	return word, nil
}
