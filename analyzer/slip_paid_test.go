package analyzer

import (
	"testing"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Throws into tasks that have paid.
func TestPaid(t *testing.T) {
	states := statesOf(map[string]any{"one": policy.Bucket{Rate: 1, Burst: 5}, "two": policy.Bucket{Rate: 1, Burst: 5}})
	const full, lost = `throw("full")`, ` meets the task for another reason: they are lost; let take() be the last condition`
	for expr, want := range map[string]string{
		`not take("one", 1) ? throw("rate") : queue.length > 99 ? throw("full") : continue()`:        `take("one", 1) has taken tokens when ` + full + lost,
		`take("one", 1) and queue.length < 99 ? continue() : throw("full")`:                          full + lost,
		`queue.length > 99 ? throw("full") : take("one", 1) ? continue() : throw("rate")`:            "",
		`queue.length < 99 and take("one", 1) ? continue() : throw("full")`:                          "",
		`queue.length > 99 or not take("one", 1) ? throw("full") : continue()`:                       "",
		`not take("one", 1) or queue.length > 99 ? throw("full") : continue()`:                       full + lost,
		`let ok = take("one", 1); queue.length > 99 or not ok ? throw("full") : continue()`:          full + lost,
		`let ok = take("one", 1); not ok and queue.length > 99 ? throw("full") : continue()`:         "", // tokens, or a short queue
		`let ok = arriving.priority > 5 or take("one", 1); ok ? continue() : throw("rate")`:          "",
		`take("one", 1) and take("two", 1) ? continue() : throw("rate")`:                             "",
		`take("one", 1) and take("two", 1) and queue.length < 99 ? continue() : throw("full")`:       `take("one", 1) has taken tokens when ` + full + lost,
		`take("one", 1) ? continue() : queue.length > 99 ? throw("full") : rank(1)`:                  "",
		`if take("one", 1) { continue() } else if chance(0.5) { throw("rate") } else { continue() }`: "",
	} {
		checkSpec(t, states, on(stubs.Enqueue, expr), want)
	}
}
