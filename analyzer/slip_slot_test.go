package analyzer

import (
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Refusals while all slots are taken, and for want of tokens that are there.
func TestLastSlot(t *testing.T) {
	const slot = ` also holds for the task that has found the last free slot: throw("x") refuses it, and that slot stays free`
	for _, c := range []struct {
		match policy.Match
		expr  string
		want  string
	}{
		{policy.Match{}, `loop.busy >= loop.slots ? throw("x") : continue()`, "loop.busy >= loop.slots" + slot},
		{policy.Match{}, `loop.busy == loop.slots ? throw("x") : continue()`, "loop.busy == loop.slots" + slot},
		{policy.Match{Except: []string{"a"}}, `let most = loop.slots; most <= loop.busy ? throw("x") : rank(most)`, "most <= loop.busy" + slot},
		{policy.Match{Tasks: []string{"a"}}, `loop.busy >= loop.slots ? throw("x") : continue()`, ""},
		{policy.Match{}, `loop.busy >= loop.slots and queue.length > 0 ? throw("x") : continue()`, ""},
		{policy.Match{}, `loop.busy >= loop.slots and arriving.labels.tier == "free" ? throw("x") : continue()`, ""},
		{policy.Match{}, `arriving.priority < 0 ? (loop.busy >= loop.slots ? throw("x") : continue()) : continue()`, ""},
		{policy.Match{}, `loop.busy >= loop.slots ? background() : continue()`, ""},
		{policy.Match{}, `queue.length > 0 ? throw("x") : continue()`, ""},

		{policy.Match{}, `queue.length > 3 and take("bucket", 1) ? throw("the burst is used up") : continue()`, `take("bucket", 1) is true when there are tokens, and "the burst is used up" speaks of none`},
		{policy.Match{}, `not (queue.length < 3 or not take("bucket", 1)) ? throw("rate limit") : continue()`, `take("bucket", 1) is true when there are tokens, and "rate limit" speaks of none`},
		{policy.Match{}, `queue.length > 3 and not take("bucket", 1) ? throw("the burst is used up") : continue()`, ""},
		{policy.Match{}, `queue.length > 3 and take("bucket", 1) ? throw("overloaded") : continue()`, ""},

		{policy.Match{}, `rate("n", duration("30s")) * 60 > 19 ? throw("20 in 30s") : continue()`, `rate("n", duration("30s")) * 60 is the growth within 60s, and "20 in 30s" speaks of 30s`},
		{policy.Match{}, `60 * rate("n", duration("30s")) > 20 ? throw("20 in 30s") : continue()`, `60 * rate("n", duration("30s")) is the growth within 60s`},
		{policy.Match{}, `rate("n", duration("30s")) * 30 > 19 ? throw("20 in 30s") : continue()`, ""},
		{policy.Match{}, `rate("n", duration("30s")) * 60 > 19 ? throw("20 a minute") : continue()`, ""},

		{policy.Match{}, `queue.oldest > duration("10ms") ? throw("waited for ten minutes") : continue()`, `"waited for ten minutes" and duration("10ms") do not agree: 10ms is not 10m0s`},
		{policy.Match{}, `queue.oldest > duration("10m") ? throw("waited for ten minutes") : continue()`, ""},
		{policy.Match{}, `queue.oldest > duration("1ms") ? throw("often minutes late") : continue()`, ""},
	} {
		s := on(stubs.Enqueue, c.expr)
		s.Match = c.match
		if got := warning(t, s); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s:\n got %s\nwant %s", c.expr, got, c.want)
		}
	}
}
