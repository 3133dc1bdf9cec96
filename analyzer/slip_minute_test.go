package analyzer

import (
	"maps"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Buckets whose rate is meant for a minute, an hour or a day.
func TestRatesForMinutes(t *testing.T) {
	states := maps.Clone(declared)
	bucket := func(name string, rate, burst float64) {
		states[name], _ = policy.StateOf(policy.Keyed{First: policy.Bucket{Rate: rate, Burst: burst}, Keys: 100})
	}
	bucket("requests", 100, 100)
	bucket("per_minute", 600, 600)
	bucket("right_per_minute", 10, 60)
	bucket("slow", 100.0/60, 100)
	bucket("mails_daily", 50, 10)
	limit := func(state, reason string) policy.Spec {
		return on(stubs.Enqueue, `not take("`+state+`", tenant.name, 1) ? throw(`+reason+`) : continue()`)
	}
	named := limit("requests", `"x"`)
	named.Name = "hourly"
	checkFlows(t, Declared{States: states, Tenant: "tenant"}, []flowCase{
		{"the reason has the number", []policy.Spec{limit("requests", `"more than 100 requests a minute"`)},
			`the bucket requests gets 100 tokens a second, and "more than 100 requests a minute" speaks of a minute`},
		{"another number", []policy.Spec{limit("requests", `"more than 6000 requests a minute"`)}, ""},
		{"no time", []policy.Spec{limit("requests", `"more than 100 requests"`)}, ""},
		{"a second", []policy.Spec{limit("requests", `"more than 100 requests a second", duration("1s")`)}, ""},
		{"the bucket's name", []policy.Spec{limit("per_minute", `"x"`)}, `gets 600 tokens a second, and "per_minute" speaks of a minute`},
		{"a minute's burst", []policy.Spec{limit("right_per_minute", `"x"`)}, ""},
		{"a minute's rate", []policy.Spec{limit("slow", `"more than 100 a minute", duration("1m")`)}, ""},
		{"a day", []policy.Spec{limit("mails_daily", `"x"`)}, `"mails_daily" speaks of a day`},
		{"the policy's name", []policy.Spec{named}, `"hourly" speaks of an hour`},
		{"come back in a minute", []policy.Spec{limit("requests", `"x", duration("1m")`)}, "is full after 1s at most, and the caller is told to come back after 1m0s"},
		{"come back soon", []policy.Spec{limit("requests", `"x", duration("5s")`)}, ""},
		{"once", []policy.Spec{limit("per_minute", `"x"`), of(policy.Match{Tasks: []string{"a"}}, limit("per_minute", `"y"`))}, "speaks of a minute"},
	})
}

// Limits of the heap in another unit, in states.
func TestHeapStates(t *testing.T) {
	states := maps.Clone(declared)
	for name, v := range map[string]any{"mib": 512, "size": 512 << 20, "moved": 512} {
		states[name], _ = policy.StateOf(v)
	}
	shed := func(cond string) policy.Spec { return on(stubs.Enqueue, cond+` ? throw("x") : continue()`) }
	checkFlows(t, Declared{States: states}, []flowCase{
		{"MiB as bytes", []policy.Spec{shed(`runtime.heap > state.mib * bytes("1B")`)}, `runtime.heap > state.mib * bytes("1B") is true for each heap of 1MiB to 16TiB`},
		{"bytes as MiB", []policy.Spec{shed(`runtime.heap > state.size * bytes("1MiB")`)}, "is false for each heap"},
		{"MiB", []policy.Spec{shed(`runtime.heap > state.mib * bytes("1MiB")`)}, ""},
		{"bytes", []policy.Spec{shed(`runtime.heap / bytes("1B") > float(state.size)`)}, ""},
		{"written", []policy.Spec{shed(`runtime.heap > state.moved * bytes("1B")`), {On: policy.Every(time.Second), Expr: `set("moved", queue.length * 1000000)`}}, ""},
	})
}

// Tasks that leave the queue, counted as failures.
func TestGoneIsNotFailed(t *testing.T) {
	states := maps.Clone(declared)
	for _, name := range []string{"failed", "api_errors", "gone", "terrors"} {
		states[name], _ = policy.StateOf(0)
	}
	for _, c := range []struct {
		events stubs.Event
		expr   string
		warned bool
	}{
		{stubs.Leave, `add("failed", 1)`, true},
		{stubs.Ends, `task.cancelled ? add("api_errors", 1) : continue()`, true},
		{stubs.Ends, `set("failed", state.failed + 1)`, true},
		{stubs.Ends, `task.running > duration("0s") ? add("failed", 1) : add("gone", 1)`, false},
		{stubs.Exit, `add("failed", 1)`, false},
		{stubs.Leave, `add("gone", 1)`, false},
		{stubs.Leave, `add("terrors", 1)`, false},
		{stubs.Leave, `set("failed", 0)`, false},
	} {
		s := on(c.events, c.expr)
		s.Name = "p"
		p, err := s.Parse(states, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := newAnalysis(p, 0).gone(); len(got) > 0 != c.warned {
			t.Errorf("%v: %s: got %v", c.events, c.expr, got)
		}
	}
}

// Rates that a reason gives for a longer time.
func TestRatesOfReasons(t *testing.T) {
	for expr, want := range map[string]string{
		`tenant.rate > 600 ? throw("at most 600 requests per minute") : continue()`:                      `tenant.rate > 600 is about each second, and "at most 600 requests per minute" speaks of a minute`,
		`rate("n", duration("1h")) >= 50 and chance(0.9) ? throw("50 an hour") : continue()`:             "speaks of an hour",
		`let r = loop.rate; r > 600 ? throw("600 per minute") : continue()`:                              "r > 600 is about each second",
		`tenant.rate > 10 and queue.length > 9 ? throw("at most 600 requests per minute") : continue()`:  "",
		`tenant.rate > 600 and queue.length > 9 ? throw("at most 600 requests per second") : continue()`: "",
		`tenant.rate > 600 and queue.length > 9 ? throw("wait a minute") : continue()`:                   "",
		`tenant.queued > 600 ? throw("at most 600 a minute") : continue()`:                               "",
	} {
		checkSlip(t, policy.On(stubs.Enqueue), expr, want)
	}
}
