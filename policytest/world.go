package policytest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// world holds the values that the policies read, in one test.
type world struct {
	suite      *suite
	given      map[string]any
	places     map[string]document.Placed // of the values in given
	heard      map[string]bool            // names, keys of states and custom events in the test
	uptime     time.Duration              // runtime.uptime at the start of the test
	now        time.Duration              // since then
	on         stubs.Event
	custom     string // the name of a custom event
	registered map[string]byLoop
	private    map[*compiled]map[string]byLoop
	failures   map[*compiled]int    // in a row
	out        map[*compiled]string // of force, and why
	draws      map[drawer]*ir.Draws
	touched    map[*variable]map[uint64]bool // keys that evaluations have read or written
	claimed    []claim
}

// byLoop is a state: the variable of each loop of the test, or one for all of them.
type byLoop map[string]*variable

func (s *suite) world(test *document.Test) *world {
	loops := loopsOf(test)
	w := &world{suite: s, given: map[string]any{}, places: map[string]document.Placed{}, heard: map[string]bool{}, registered: newStates(s.registered, loops), private: map[*compiled]map[string]byLoop{},
		failures: map[*compiled]int{}, out: map[*compiled]string{}, draws: map[drawer]*ir.Draws{}, touched: map[*variable]map[uint64]bool{}}
	for _, c := range s.policies {
		w.private[c] = newStates(c.spec.State, loops)
		for _, r := range c.program.Reads {
			if !r.OfState() || r.Stub == stubs.State {
				continue
			}
			for _, v := range w.visible(c, r.Key) {
				v.trend(r)
			}
		}
	}
	return w
}

// loopsOf returns the names of the loops on which the events of a test happen.
func loopsOf(test *document.Test) []string {
	path := stubs.Catalogue[stubs.LoopName].Path
	loops := []string{defaultLoop}
	add := func(given map[string]document.Placed) {
		if name, ok := given[path].Value.(string); ok && !slices.Contains(loops, name) {
			loops = append(loops, name)
		}
	}
	add(test.Given)
	for i := range test.Events {
		add(test.Events[i].Given)
	}
	return loops
}

// loop returns the name of the loop on which the event happens.
func (w *world) loop() string {
	name, _ := w.stub(stubs.LoopName).(string)
	return name
}

// give sets values of stubs and states until they are set again. A state of each loop is set on the
// loop of the event or, before the first event, on all loops.
func (w *world) give(given map[string]document.Placed, everywhere bool) error {
	for _, path := range slices.Sorted(maps.Keys(given)) { // loop.name precedes the states
		if err := w.giveOne(path, given[path].Value, everywhere); err != nil {
			return &badTest{given[path], err}
		}
		if name, is := strings.CutPrefix(path, "state."); is {
			w.claims(name, given[path], false)
		}
		w.places[path] = given[path]
	}
	return nil
}

func (w *world) giveOne(path string, v any, everywhere bool) error {
	switch v := v.(type) {
	case string:
		w.heard[v] = true
	case map[string]any:
		for key := range v {
			w.heard[key] = true
		}
	}
	name, isState := strings.CutPrefix(path, "state.")
	switch {
	case isState:
		return w.set(name, v, everywhere)
	case path == "runtime.uptime":
		w.uptime = v.(time.Duration) - w.now
		return nil
	}
	w.given[path] = v
	return nil
}

// state returns the state of that name: a registered one, the only private one of that name, or
// POLICY.NAME.
func (w *world) state(name string) (byLoop, error) {
	if v := w.registered[name]; v != nil {
		return v, nil
	}
	var found byLoop
	var names []string
	for _, c := range w.suite.policies {
		for short, v := range w.private[c] {
			long := c.spec.Name + "." + short
			if name == long {
				return v, nil
			}
			if name == short {
				found, names = v, append(names, long)
			}
		}
	}
	switch len(names) {
	case 0:
		return nil, fmt.Errorf("there is no state %q, registered or private", name)
	case 1:
		return found, nil
	}
	return nil, fmt.Errorf("several policies have a state %q; write %s", name, strings.Join(names, " or "))
}

// visible returns the state that a policy reads under that name.
func (w *world) visible(c *compiled, name string) byLoop {
	if v := w.private[c][name]; v != nil {
		return v
	}
	return w.registered[name]
}

// here returns the variable that a policy reads under that name on the loop of the event.
func (w *world) here(c *compiled, name string) *variable { return w.visible(c, name)[w.loop()] }

// set sets a state, or some of its keys.
func (w *world) set(name string, value any, everywhere bool) error {
	state, err := w.state(name)
	if err != nil {
		return err
	}
	for loop, v := range state {
		if loop != w.loop() && !everywhere {
			continue
		}
		if err := v.give(name, value, int64(w.now)); err != nil {
			return err
		}
	}
	return nil
}

// wrongState returns the differences between a state and its expected value, as enforcing or as
// observing policies see it.
func (w *world) wrongState(name string, want any, observing bool) (what []string, err error) {
	state, err := w.state(name)
	if err != nil {
		return nil, err
	}
	v := state[w.loop()]
	err = v.each(name, want, func(name string, key uint64, value any) error {
		word, err := v.wordFor(name, value)
		if got, want := format(v.at(key, observing, int64(w.now)), v.Type), format(word, v.Type); err == nil && !same(got, want) {
			what = append(what, fmt.Sprintf("the state %s is %s; want %s", name, got, want))
		}
		return err
	})
	return what, err
}
