package analyzer

import (
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// A throw by a measured value that stays high while no task is let in: a rate of arrivals, and a
// quantile of the waits.
func TestThrowsThatRefuseEverything(t *testing.T) {
	of := func(m policy.Match, cond string) policy.Spec {
		return policy.Spec{On: policy.On(stubs.Enqueue), Match: m, Expr: cond + ` ? throw("x") : continue()`}
	}
	for _, c := range []struct {
		match      policy.Match
		cond, want string // want "": no warning
	}{
		{cond: `tenant.rate > 50.0`, want: `tenant.rate counts refused tasks, too: while more than 50.0 arrive in a second, throw("x") refuses all tasks of the tenant, and not those above 50.0; take from a token bucket with the key tenant.name, as in {rate: 50.0,`},
		{cond: `loop.rate >= 100`, want: `loop.rate counts refused tasks, too: while more than 100 arrive in a second, throw("x") refuses all tasks, and not those above 100; take from a token bucket, as`},
		{cond: `50.0 < tenant.rate and tenant.name != "gold"`, want: `tenant.rate counts`},
		{cond: `arriving.labels.tier == "free" and tenant.rate > 5.0`, want: `tenant.rate counts`},
		{cond: `tenant.rate > 5.0 and clock.hour in 9..17`, want: `tenant.rate counts`},
		{match: policy.Match{Tasks: []string{"a"}}, cond: `loop.rate > 100.0`},
		{cond: `loop.rate > 100.0 and arriving.labels.tier == "free"`},
		{cond: `tenant.rate > 5.0 and arriving.name == "a"`},
		{cond: `tenant.rate > 5.0 and arriving.priority < 0`},
		{cond: `tenant.rate > 5.0 and queue.length > 9`},
		{cond: `tenant.rate > 5.0 and not take("bucket", 1)`},
		{cond: `tenant.rate > 5.0 and chance(0.5)`},
		{cond: `chance((loop.rate - 100.0) / max(loop.rate, 1.0))`},
		{cond: `tenant.rate > 5.0 and state.n > 3`},

		{cond: `queue.wait(0.95) > duration("100ms")`, want: `throw("x") refuses all tasks while queue.wait(0.95) is high, which it is for 10s after the last long wait, even if no task waits any more; compare queue.oldest`},
		{cond: `class.wait(0.95, duration("1m")) > duration("100ms")`, want: `throw("x") refuses all tasks of a name while class.wait(0.95, duration("1m0s")) is high, which it is for 1m0s`},
		{match: policy.Match{Tasks: []string{"a"}}, cond: `class.wait(0.95) > duration("100ms")`, want: `throw("x") refuses all tasks of a name`},
		{match: policy.Match{Tasks: []string{"a"}}, cond: `queue.wait(0.95) > duration("100ms")`},
		{cond: `queue.wait(0.95) > duration("100ms") and queue.length > loop.slots`},
		{cond: `queue.wait(0.95) > duration("100ms") and arriving.priority <= 0`},
		{cond: `queue.wait(0.95) > duration("100ms") and not chance(0.05)`},
		{cond: `queue.wait(0.95, duration("200ms")) > duration("100ms")`},
		{cond: `class.service(0.95) > duration("100ms")`}, // a breaker
		{cond: `queue.oldest > duration("100ms")`},
		{cond: `class.waited_mean > duration("1s")`, want: "compare queue.oldest, which falls with the queue"},
	} {
		got := warning(t, of(c.match, c.cond))
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s:\n got %s\nwant %s", c.cond, got, c.want)
		}
	}
}
