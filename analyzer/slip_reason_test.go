package analyzer

import (
	"fmt"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// Reasons that name another time, share or quantile than the policy has.
func TestReasonsAgainstNumbers(t *testing.T) {
	for _, c := range []struct{ cond, throw, want string }{
		{`queue.oldest > duration("200us")`, `throw("waited over 200 ms")`, `"waited over 200 ms" and duration("200us") do not agree: 200µs is not 200ms; correct one of the two`},
		{`queue.oldest > duration("200ms")`, `throw("waited over 200 ms")`, ""},
		{`queue.oldest > duration("200ms")`, `throw("waited over 300 ms")`, ""},
		{`let limit = duration("30ms"); queue.oldest > limit`, `throw("30 s")`, `30ms is not 30s`},
		{`queue.oldest > duration("1m")`, `throw("retry in 1 s")`, ""},
		{`queue.oldest > duration("1m")`, `throw("over 1m, by 1s")`, ""},
		{`queue.length > 99`, `throw("retry in 5 minutes", duration("5s"))`, `5s is not 5m0s`},
		{`queue.length > 99`, `throw("retry in 5 seconds", duration("5s"))`, ""},
		{`queue.wait(0.95) > duration("1s")`, `throw("the p99 is high")`, `p99 is the quantile 0.99; write 0.99`},
		{`queue.wait(0.95) > duration("1s") and queue.length > 9`, `throw("the p95 is high")`, ""},
		{`hash(arriving.labels.user) % 100 <= 5`, `throw("5 % are refused")`, `the numbers 0 to 5 are 6 of 100; write % 100 < 5 for 5 %`},
		{`hash(arriving.labels.user) % 100 < 5`, `throw("5 % are refused")`, ""},
		{`hash(arriving.labels.user) % 100 <= 4`, `throw("5 % are refused")`, ""},
		{`hash(arriving.labels.user) % 100 >= 95`, `throw("5 % are refused")`, ""},
		{`hash(arriving.labels.user) % 100 > 95`, `throw("5 % are refused")`, `the numbers 0 to 95 are 96 of 100`},
		{`hash(arriving.labels.user) % 10 < 5`, `throw("5% of the users")`, `the numbers 0 to 4 are 5 of 10; write % 100 < 5 for 5 %`},
		{`queue.length > 99 and chance(0.5)`, `throw("5 % are refused")`, `"5 % are refused" and chance(0.5) do not agree: chance(0.5) is 50 %; write chance(0.05) for 5 %`},
		{`queue.length > 99 and chance(0.05)`, `throw("half of the requests are refused")`, `chance(0.05) is 5 %; write chance(0.5) for 50 %`},
		{`queue.length > 99 and not chance(0.05)`, `throw("95 percent are refused")`, ""},
		{`queue.length > 99 and chance(0.95)`, `throw("5 % are let in")`, ""},
		{`queue.length > 99 and chance(state.f)`, `throw("5 % are refused")`, ""},
		{`loop.utilization > 0.9 and chance(0.5)`, `throw("over 90 % busy")`, ""},
		{`loop.utilization > 0.9 and chance(0.5)`, `throw("half of 90 %")`, ""},
		{`runtime.heap > bytes("2TB")`, `throw("more than 2 GB")`, `"more than 2 GB" and bytes("2TB") do not agree: 2TB is not 2 GB; correct one of the two`},
		{`runtime.heap > bytes("2GiB")`, `throw("more than 2 GB")`, ""},
		{`runtime.heap > bytes("512MiB")`, `throw("more than 1GiB")`, ""},
	} {
		checkSpec(t, declared, on(stubs.Enqueue, c.cond+` ? `+c.throw+` : continue()`), c.want)
	}
}

// A chain of names, each of which stands twice in the next, is followed once.
func TestReasonsOfLongChains(t *testing.T) {
	chain := "let a0 = queue.oldest; "
	for i := range 60 {
		chain += fmt.Sprintf("let a%d = a%d + a%[2]d; ", i+1, i)
	}
	checkSpec(t, declared, on(stubs.Enqueue, chain+`a60 > duration("200us") ? throw("waited over 200 ms") : continue()`), "200µs is not 200ms")
}

// Sums that are no time of the day, windows that differ, labels that tasks lack, and one warning
// about one rank.
func TestMoreSlips(t *testing.T) {
	states := statesOf(map[string]any{"a": 0, "b": 0})
	for cond, want := range map[string]string{
		`clock.minute * 60 + clock.hour >= 150`:                          `clock.minute * 60 + clock.hour is not a time of the day: an hour has 60 minutes; write clock.hour * 60 + clock.minute`,
		`clock.hour * 3600 + clock.minute * 60 >= 9000`:                  "",
		`clock.hour * 100 + clock.minute < 260`:                          `clock.hour * 100 + clock.minute < 260 is about no time of the day: 260 has 60 minutes`,
		`clock.hour * 100 + clock.minute < 230`:                          "",
		`rate("a", duration("10s")) > 0.2 * rate("b", duration("10ms"))`: `compares a rate within 10s with one within 10ms; write one window`,
		`rate("a", duration("10s")) > 0.2 * rate("b", duration("30s"))`:  "",
		`rate("a", duration("10s")) > 5 * rate("a", duration("10m"))`:    "",
		`int(arriving.labels.attempt) >= 0`:                              `also holds for tasks without a number in the label`,
		`int(arriving.labels.attempt) >= 1`:                              "",
		`int(arriving.labels.attempt, -1) >= 0`:                          "",
	} {
		checkSpec(t, states, on(stubs.Enqueue, cond+` and queue.length > 9 ? throw("x") : continue()`), want)
	}
	s := on(stubs.Enqueue, `rank(arriving.priority)`)
	s.Name = "p"
	p, err := s.Parse(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := Verify(p, LimitsOf(s)); err != nil || len(v.Warnings()) != 1 {
		t.Errorf("got %v, %v", v.Warnings(), err)
	}
}

// Breakers on events of failures, and counts of refusals.
func TestFailuresAndRefusals(t *testing.T) {
	event := func(name string) policy.Spec {
		return policy.Spec{On: policy.OnCustom(name), Expr: `set("d", runtime.uptime + duration("5s"))`}
	}
	reversed := on(stubs.Enqueue, `runtime.uptime > state.d ? throw("x") : continue()`)
	penalty, _ := policy.StateOf(policy.Keyed{First: 0, Keys: 5, TTL: time.Minute})
	states := Declared{States: map[string]policy.State{"d": declared["d"], "bucket": declared["bucket"], "ttl": penalty}}
	checkFlows(t, states, []flowCase{
		{"reversed", []policy.Spec{event("upstream fail"), reversed}, `throw("x") refuses all tasks while the state d has its first value, and only the event "upstream fail" changes it`},
		{"opened by hand", []policy.Spec{event("open"), reversed}, ""},
		{"the right way", []policy.Spec{event("fail"), on(stubs.Enqueue, `runtime.uptime < state.d ? throw("x") : continue()`)}, ""},
		{"refusals", []policy.Spec{on(stubs.Enqueue, `take("bucket", state.ttl[arriving.name] > 3 ? 4 : 1) ? continue() : (add("ttl", arriving.name, 1); throw("x"))`)}, ""},
	})
}

// Tasks that are declared atomic keep their slots.
func TestBackgroundOfAtomic(t *testing.T) {
	s := of(policy.Match{Tasks: []string{"GET /export/*"}}, policy.Spec{On: policy.Every(time.Second), Expr: `task.running > duration("2s") ? background() : continue()`})
	tasks := map[string]document.Class{"GET /export/*": {Kind: "atomic"}}
	want := `[policy "p0": match: the tasks "GET /export/*" are declared atomic, and on tick background() takes no slot from them: they keep it until they block or end]`
	for range 2 {
		var got []string
		for _, r := range Mismatched(members(t, declared, s), tasks) {
			got = append(got, fmt.Sprintf("%v: %v", r.Part, r.Err))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("got %v, want %s", got, want)
		}
		tasks["GET /export/all"], want = document.Class{Kind: "preemptible"}, "[]"
	}
}
