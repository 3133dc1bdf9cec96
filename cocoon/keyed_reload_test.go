package cocoon

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// A reload keeps or resets keyed states and buckets as docs/policy.md says.
func TestReloadOfKeyedStates(t *testing.T) {
	const policies = "policies: [{name: p, event: go, state: {n: 0}, expr: 'let ok = take(\"b\", 1); add(\"k\", \"a\", 1); add(\"n\", 1); state.n == 0 ? add(\"begun\", 1) : continue()'}]\n"
	const first = "begun: 0, k: {first: 0, keys: 5}, b: {rate: 0.000001, burst: 5}"
	for _, c := range []struct {
		name, states string
		keys         any // of k["a"], behind one evaluation before the reload and one after
		tokens       float64
		begun        int64 // how often the policy began
		refused      string
	}{
		{"the same", first, int64(2), 3, 1, ""},
		{"another time to live", "begun: 0, k: {first: 0, keys: 5, ttl: 1h}, b: {rate: 0.000001, burst: 5}", int64(2), 3, 1, ""},
		{"another first value", "begun: 0, k: {first: 10, keys: 5}, b: {rate: 0.000001, burst: 5}", int64(11), 3, 1, ""},
		{"more keys", "begun: 0, k: {first: 0, keys: 6}, b: {rate: 0.000001, burst: 5}", int64(1), 3, 1, ""},
		{"another type", "begun: 0, k: {first: 0.5, keys: 5}, b: {rate: 0.000001, burst: 5}", 1.5, 3, 2, ""},
		{"a type that does not fit", "begun: 0, k: {first: 0s, keys: 5}, b: {rate: 0.000001, burst: 5}", int64(1), 4, 1, "the state k is a duration and 1 is a plain number"},
		{"no keys any more", "begun: 0, k: 0, b: {rate: 0.000001, burst: 5}", int64(1), 4, 1, "the state k has no keys"},
		{"another rate", "begun: 0, k: {first: 0, keys: 5}, b: {rate: 1000000000, burst: 5}", int64(2), 5, 1, ""},
		{"a greater burst", "begun: 0, k: {first: 0, keys: 5}, b: {rate: 0.000001, burst: 50}", int64(2), 3, 2, ""},
		{"a lesser burst", "begun: 0, k: {first: 0, keys: 5}, b: {rate: 0.000001, burst: 2}", int64(2), 1, 2, ""},
		{"a burst below what is taken", "begun: 0, k: {first: 0, keys: 5}, b: {rate: 0.000001, burst: 0.5}", int64(1), 4, 1, `the bucket "b" holds 0.5 tokens, and never 1`},
		{"no bucket any more", "begun: 0, k: {first: 0, keys: 5}, b: 5.0", int64(1), 4, 1, "take() takes from a token bucket"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rt, file := start(t, Config{Slots: 1}), newPolicyFile(t)
			must(t, file.load(t, rt, "states: {"+first+"}\n"+policies))
			rt.Notify("go", 0)
			before := inForce(rt)
			err := file.load(t, rt, "states: {"+c.states+"}\n"+policies)
			if c.refused == "" {
				must(t, err)
				rt.Notify("go", 0)
			} else if err == nil || !strings.Contains(err.Error(), c.refused) || inForce(rt) != before {
				t.Errorf("%v, want %q and no change", err, c.refused)
			}
			time.Sleep(time.Microsecond)
			if tokens := rt.State("b").(float64); rt.State("k", "a") != c.keys || tokens < c.tokens || tokens > c.tokens+0.001 || rt.State("begun") != c.begun {
				t.Errorf("k %v, %v tokens, begun %v times", rt.State("k", "a"), tokens, rt.State("begun"))
			}
		})
	}
}

// A reload cannot change the type of a state, or the burst of a bucket, to which policies of code
// refer.
func TestReloadKeepsWhatCodeRefersTo(t *testing.T) {
	rt, file := start(t, Config{Slots: 1}), newPolicyFile(t)
	must(t, file.load(t, rt, "states: {k: {first: 0, keys: 5}, b: {rate: 1, burst: 5}}\n"))
	register(t, rt, Policy{Name: "code", On: OnNotify("go"), Expr: `take("b", 1) ? add("k", "a", 1) : continue()`})
	for states, want := range map[string]string{
		"k: {first: 0.5, keys: 5}, b: {rate: 1, burst: 5}": `no longer has the state "k" of type int by key`,
		"k: 0, b: {rate: 1, burst: 5}":                     `no longer has the state "k" of type int by key`,
		"k: {first: 0, keys: 5}, b: {rate: 1, burst: 6}":   `no longer has the bucket "b" of 5 tokens`,
		"k: {first: 0, keys: 5}, b: 0.5":                   `no longer has the bucket "b" of 5 tokens`,
		"k: {first: 0, keys: 5}":                           `no longer has the bucket "b" of 5 tokens`,
	} {
		if err := file.load(t, rt, "states: {"+states+"}\n"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", states, err, want)
		}
	}
	must(t, file.load(t, rt, "states: {k: {first: 3, keys: 50}, b: {rate: 100, burst: 5}}\n"))
	rt.Notify("go", 0)
	if k := rt.State("k", "a"); k != int64(4) {
		t.Errorf("k is %v", k)
	}
}

// Under load, while types, bounds, rates and bursts change, no evaluation errs, no policy sees a
// bucket that holds more than it was checked against, and a reload that is refused changes nothing.
func TestReloadOfKeyedStatesUnderLoad(t *testing.T) {
	rt, file := start(t, Config{Slots: 2}), newPolicyFile(t)
	other := newLoopOf(t, rt, "other", 1)
	must(t, rt.RegisterState(map[string]any{"wrong": 0}))
	const policies = "policies:\n" +
		"  - {name: count, on: exit, expr: 'add(\"k\", task.labels.user, VALUE); state.b[task.labels.user] > BURST ? add(\"wrong\", 1) : continue()'}\n" +
		"  - {name: take, on: enqueue, expr: 'take(\"b\", arriving.labels.user, BURST / 2) ? continue() : state.b[arriving.labels.user] >= BURST ? throw(\"full\") : continue()'}\n"
	var versions []string
	for _, v := range [][4]string{{"0", "1", "{rate: 10, burst: 5.0, keys: 5}", "5.0"}, {"0.5", "1.5", "{rate: 10, burst: 5.0, keys: 5}", "5.0"}, {"0", "1", "{rate: 1e9, burst: 5.0, keys: 5}", "5.0"},
		{"1s", `duration("1s")`, "{rate: 10, burst: 50.0, keys: 9}", "50.0"}, {"0", "1", "{rate: 1e5, burst: 50.0, keys: 5, ttl: 1ms}", "50.0"}} {
		versions = append(versions, "states: {k: {first: "+v[0]+", keys: 3, ttl: 10ms}, b: "+v[2]+"}\n"+strings.NewReplacer("VALUE", v[1], "BURST", v[3]).Replace(policies))
	}
	must(t, file.load(t, rt, versions[0]))
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	var crowd sync.WaitGroup
	for i := range 4 {
		crowd.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				if err := []*Loop{rt.Loop(), other}[i%2].Run(WithLabel(ctx, "user", string(rune('a'+n%7))), "job", idle); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
				rt.State("k", "a")
				rt.State("b", "a")
			}
		})
	}
	within(t, "the reloads", func() {
		for until := time.Now().Add(time.Duration(longtest.Count(500, 50)) * time.Millisecond); time.Now().Before(until); {
			for _, v := range versions {
				must(t, file.load(t, rt, v))
				if err := file.load(t, rt, "states: {k: {first: true, keys: 5}, b: {rate: 1, burst: 1}}\n"+policies); err == nil {
					t.Error("what cannot be is in force")
				}
				rt.Stats()
			}
		}
	})
	cancel()
	within(t, "the load", crowd.Wait)
	if wrong := rt.State("wrong"); wrong != int64(0) {
		t.Errorf("%v times a bucket held more than the policy was checked against", wrong)
	}
	for name, st := range rt.Stats().Policies {
		if st.Errors != 0 || st.Off || st.Refusals != 0 {
			t.Errorf("policy %s: %+v", name, st)
		}
	}
}

// A state that a reload resets is reset for observing policies too, with keys and without.
func TestReloadEndsShadows(t *testing.T) {
	rt, file := start(t, Config{Slots: 1}), newPolicyFile(t)
	document := func(first int) string {
		return fmt.Sprintf(`states: {n: %d, k: {first: %d, keys: 5}}
mode: observe
policies:
  - {name: dry, event: dry, expr: 'add("n", 10); add("k", "a", 10)'}
  - {name: look, event: look, expr: 'state.n == 7 ? add("n", 0) : continue()'}
  - {name: look-by-key, event: look, expr: 'state.k["a"] == 7 ? add("k", "a", 0) : continue()'}
`, first, first)
	}
	must(t, file.load(t, rt, document(0)))
	rt.Notify("dry", 0)
	must(t, file.load(t, rt, document(7)))
	rt.Notify("look", 0)
	for _, name := range []string{"look", "look-by-key"} {
		if st := rt.Policy(name).Stats(); st.WouldEffect != 1 {
			t.Errorf("%s does not see the new first value: %+v", name, st)
		}
	}
}
