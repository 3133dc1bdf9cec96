package policytest

import (
	"fmt"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// claim is a test's statement about some keys of a state: given values, or expected ones.
type claim struct {
	state    string
	values   document.Placed
	expected bool
}

// touch records that an evaluation reads or writes a key of a state.
func (w *world) touch(v *variable, key uint64) {
	if w.touched[v] == nil {
		w.touched[v] = map[uint64]bool{}
	}
	w.touched[v][key] = true
}

// claims records what a test says of the keys of a state, for idle.
func (w *world) claims(state string, values document.Placed, expected bool) {
	if byKey, keyed := values.Value.(map[string]any); keyed && len(byKey) > 0 {
		w.claimed = append(w.claimed, claim{state, values, expected})
	}
}

// idle refuses, at the end of a test, what it says of keys that no evaluation has read or written:
// the values make no difference, and keep whatever the policies do.
func (w *world) idle() error {
	for _, c := range w.claimed {
		state, err := w.state(c.state)
		if err != nil {
			return &badTest{c.values, err}
		}
		names := state[w.loop()].By == ir.KeyTypes{stubs.Name}
		some, swapped := w.touchedIn(state, c.values.Value.(map[string]any))
		switch {
		case swapped != "":
			err = fmt.Errorf("no evaluation of the test reads or writes the key %s of the state %s, but the one with its parts the other way round", swapped, c.state)
		case some, c.expected && names: // mentions has looked at names
		case c.expected:
			err = fmt.Errorf("no evaluation of the test reads or writes any of these keys of the state %s, so they keep their values", c.state)
		default:
			err = fmt.Errorf("no evaluation of the test reads or writes any of these keys of the state %s, so their values change nothing", c.state)
		}
		if err != nil {
			return &badTest{c.values, err}
		}
	}
	return nil
}

// touchedIn reports whether an evaluation has read or written one of the keys, and returns a pair
// that none has, where one has read or written it the other way round.
func (w *world) touchedIn(state byLoop, values map[string]any) (some bool, swapped string) {
	has := func(key uint64) bool {
		for _, v := range state {
			if w.touched[v][key] {
				return true
			}
		}
		return false
	}
	v := state[w.loop()]
	_ = v.each("", values, func(_ string, key uint64, _ any) error {
		some = some || has(key)
		return nil
	})
	if v.By.Parts() != 2 || v.By[0] != stubs.Name || v.By[1] != stubs.Name {
		return some, ""
	}
	for one, inner := range values {
		pairs, _ := inner.(map[string]any)
		for other := range pairs {
			key, _ := v.By.Word(one, other)
			if back, _ := v.By.Word(other, one); !has(key) && has(back) {
				swapped = fmt.Sprintf("%q, %q", one, other)
			}
		}
	}
	return some, swapped
}
