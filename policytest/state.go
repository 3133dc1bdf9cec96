package policytest

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/cocoon-go/cocoon/internal/keyed"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// variable is a state.
type variable struct {
	policy.State
	word   uint64
	table  *keyed.Table             // of a keyed state or a bucket; else nil
	trends map[string]*policy.Trend // that policies read, by their text
}

// trend returns the rate or average of the state that r reads.
func (v *variable) trend(r policy.Read) *policy.Trend {
	t := v.trends[r.String()]
	if t == nil {
		made := policy.NewTrend(r, v.Type)
		t, v.trends[r.String()] = &made, &made
	}
	return t
}

func newVariables(values map[string]any) map[string]*variable {
	vars := map[string]*variable{}
	for name, declared := range values {
		s, _ := policy.StateOf(declared) // a test has one loop
		v := &variable{State: s, word: s.First, trends: map[string]*policy.Trend{}}
		if s.Keys > 0 || s.IsBucket() {
			v.table = keyed.New(max(s.Keys, 1), int64(s.TTL))
		}
		vars[name] = v
	}
	return vars
}

// at returns the current word of a key, or of a state without keys.
func (v *variable) at(key uint64, now int64) uint64 {
	if v.table == nil {
		return v.word
	}
	word, at, ok := v.table.Get(key, now)
	switch {
	case !ok:
		return v.First
	case v.IsBucket():
		return math.Float64bits(keyed.Tokens(word, at, now, v.Bucket.Rate, v.Bucket.Burst))
	}
	return word
}

func (v *variable) put(key, word uint64, now int64) {
	if v.table == nil {
		v.word = word
	} else {
		v.table.Put(key, word, now)
	}
}

// keyIn returns the key of a policy's read or write; nil is the key of a state without keys.
func keyIn(by *policy.KeyOf, snapshot []uint64) uint64 {
	if by == nil {
		return 0
	}
	return by.In(snapshot)
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

// eachKey calls f with the values by key of a mapping; of pairs it has a mapping for each first part.
// before is the part around the mapping.
func (v *variable) eachKey(name string, values map[string]any, before []any, f func(name string, key uint64, value any) error) error {
	for _, text := range slices.Sorted(maps.Keys(values)) {
		here, part := fmt.Sprintf("%s[%q]", name, text), any(text)
		if v.By[len(before)] == stubs.Int {
			i, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return fmt.Errorf("the keys of the state %s are by %v, and %q is no int", name, v.By, text)
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

// set sets a state, or some of its keys.
func (w *world) set(name string, value any) error {
	v, err := w.state(name)
	if err != nil {
		return err
	}
	return v.each(name, value, func(name string, key uint64, value any) error {
		word, err := v.wordFor(name, value)
		if err != nil {
			return err
		}
		v.put(key, word, int64(w.now))
		for _, t := range v.trends {
			t.Restart()
		}
		return nil
	})
}

// wrongState returns the differences between a state and its expected value.
func (w *world) wrongState(name string, want any) (what []string, err error) {
	v, err := w.state(name)
	if err != nil {
		return nil, err
	}
	err = v.each(name, want, func(name string, key uint64, value any) error {
		word, err := v.wordFor(name, value)
		if got, want := format(v.at(key, int64(w.now)), v.Type), format(word, v.Type); err == nil && !same(got, want) {
			what = append(what, fmt.Sprintf("the state %s is %s; want %s", name, got, want))
		}
		return err
	})
	return what, err
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

// place is where a policy writes: a state, and a key of it.
type place struct {
	*variable
	key uint64
}

// act carries out the effects that a test observes, in the order of the text: all of them or, on an
// error, none.
func (w *world) act(c *compiled, out stubs.Outcome) error {
	written, order, cancelled := map[place]uint64{}, []place{}, false
	for i, site := range c.program.Sites {
		if out.Fired&(1<<i) == 0 {
			continue
		}
		switch site.Effect {
		case stubs.Set, stubs.Add, stubs.Max, stubs.Min, stubs.Take:
			at := place{w.visible(c, site.Name), keyIn(site.By, c.eval.Snapshot())}
			was, again := written[at]
			if !again {
				was = at.at(at.key, int64(w.now))
				order = append(order, at)
			}
			word, err := site.Update(was, out.Values[i])
			if err != nil {
				return err
			}
			written[at] = word
		case stubs.Cancel:
			cancelled = true
		case stubs.Call, stubs.Interval, stubs.Rank, stubs.Background:
		default:
			return fmt.Errorf("tests do not know the effect %d", site.Effect)
		}
	}
	for _, at := range order {
		for _, t := range at.trends {
			t.Wrote(int64(w.now), at.word, written[at])
		}
		at.put(at.key, written[at], int64(w.now))
	}
	w.off[c] = w.off[c] || cancelled
	return nil
}
