package analyzer

import (
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// An effect that a later one always overwrites does nothing; one that is overwritten at times is a
// default.
func TestLostEffects(t *testing.T) {
	for expr, want := range map[string]string{
		`rank(1); rank(2)`:                   `rank(1) does nothing: rank(2) comes after it, and the last one counts`,
		`rank(1); let x = 2; rank(x)`:        `rank(1) does nothing: rank(x) comes after it`,
		`set("n", 1); set("n", 2)`:           `set("n", 1) does nothing: set("n", 2) comes after it`,
		`add("n", 1); set("n", 0)`:           `add("n", 1) does nothing: set("n", 0) comes after it`,
		`set("k", "a", 1); set("k", "a", 2)`: `set("k", "a", 1) does nothing`,
		`set("n", 3); if queue.length > 3 { set("n", 1); throw("x") } else { set("n", 2) }`: `set("n", 3) does nothing: set("n", 1) comes after it`,

		`set("n", 0); if queue.length > 3 { set("n", 1) } else { continue() }`: "",
		`rank(0); queue.length > 3 ? rank(1) : continue()`:                     "",
		`set("n", 0); add("n", 1)`:                                             "",
		`set("n", 1); set("limit", 2)`:                                         "",
		`set("k", "a", 1); set("k", "b", 2)`:                                   "",
		`add("n", 1); add("n", 1)`:                                             "",
		`queue.length > 3 ? rank(1) : rank(2)`:                                 "",
		`set("n", state.limit)`:                                                "",
		// the key is kept for longer
		`set("k", "a", state.k["a"])`:                "",
		`set("n", state.n)`:                          `set("n", state.n) changes nothing: it is the value that the state has`,
		`add("d", duration("0s"))`:                   `add("d", duration("0s")) changes nothing: it adds 0`,
		`take("bucket", 0.0) ? throw("x") : rank(1)`: `take("bucket", 0.0) takes nothing, and is always true`,
	} {
		got := warning(t, policy.Spec{On: policy.On(stubs.Enqueue), Expr: expr})
		if (got == "") != (want == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%s\n got %s\nwant %s", expr, got, want)
		}
	}
}

// A fraction that whole numbers have dropped, and durations below the runtime's resolution.
func TestLostFractions(t *testing.T) {
	for cond, want := range map[string]string{
		`loop.utilization > 9 / 10`:                       "9 / 10 is 0: int by int drops the fraction; write it with a point",
		`queue.length > 100 / 3`:                          "100 / 3 is 33: int by int drops the fraction",
		`queue.length > 100 / 4`:                          "",
		`queue.length > loop.slots * 9 / 10`:              "",
		`float(queue.length / loop.slots) > 0.5`:          "queue.length / loop.slots drops the fraction before float() sees it; write float(queue.length) / float(loop.slots)",
		`float(queue.length / 2) > 0.5`:                   "queue.length / 2 drops the fraction, and is compared with 0.5; write float(queue.length) / 2.0",
		`float(queue.length / 2) > 1.0`:                   "",
		`loop.busy / loop.slots * 100 > 90`:               "loop.busy / loop.slots drops the fraction before it is multiplied; multiply before you divide",
		`queue.length / 10 * 10 > 90`:                     "",
		`queue.oldest > duration("1ns")`:                  "1ns is less than the runtime can tell apart, which is 5µs",
		`queue.oldest > duration("0s")`:                   "",
		`clock.hour in [23, 24]`:                          "clock.hour == 24 is always false: clock.hour is 0 to 23 here",
		`clock.hour == 3 and clock.hour == 4`:             "clock.hour == 4 is always false: clock.hour is always 3 here",
		`arriving.name in ["a", "b"] and class.tasks > 3`: "",
	} {
		got := warning(t, policy.Spec{On: policy.On(stubs.Enqueue), Expr: cond + ` ? throw("x") : rank(1)`})
		if (got == "") != (want == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%s\n got %s\nwant %s", cond, got, want)
		}
	}
}

// The comparison in max() is not in the author's text.
func TestLoweredChoices(t *testing.T) {
	for value, want := range map[string]string{
		`max(queue.length, -1)`:                                    "max(queue.length, -1) chooses nothing: one of its values is always the result",
		`min(queue.length, 9 / 10)`:                                "min(queue.length, 9 / 10) chooses nothing",
		`clamp(queue.length, -5, 9)`:                               "clamp(queue.length, -5, 9) chooses nothing",
		`abs(queue.length)`:                                        "abs(queue.length) chooses nothing",
		`max(queue.length, 1)`:                                     "",
		`queue.length > 3 ? loop.slots : 5`:                        "",
		`(queue.length < 0 ? loop.slots : 5)`:                      "queue.length < 0 is always false",
		`int(max(queue.oldest, duration("1us")) / duration("1s"))`: "",
	} {
		got := warning(t, policy.Spec{On: policy.On(stubs.Enqueue), Expr: `set("n", ` + value + `)`})
		if (got == "") != (want == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%s\n got %s\nwant %s", value, got, want)
		}
	}
}
