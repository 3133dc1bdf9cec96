package analyzer

import (
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Choices that an earlier one has decided.
func TestOvertakenChoices(t *testing.T) {
	const never = ` is never reached: an earlier choice decides in all these cases`
	for expr, want := range map[string]string{
		`queue.length > 50 and arriving.priority < 2 ? throw("a") : queue.length > 99 and arriving.priority < 1 ? throw("b") : continue()`:      `throw("b")` + never,
		`queue.length > 99 and arriving.priority < 2 ? throw("a") : queue.length > 50 and arriving.priority < 1 ? throw("b") : continue()`:      "",
		`queue.length > 50 or loop.busy > 9 ? throw("a") : loop.busy > 3 and queue.length > 3 ? throw("b") : continue()`:                        "",
		`queue.length > 50 and loop.busy > 9 ? continue() : loop.busy > 10 and queue.length > 99 ? add("n", 1) : throw("b")`:                    `add("n", 1)` + never,
		`let full = queue.length > 50 and loop.busy > 9; full ? throw("a") : loop.busy > 10 and queue.length > 99 ? throw("b") : continue()`:    `throw("b")` + never,
		`not (queue.length > 50 and loop.busy > 9) ? (loop.busy > 10 and queue.length > 99 ? throw("a") : continue()) : throw("b")`:             `throw("a")` + never,
		`chance(0.5) and queue.length > 50 ? throw("a") : queue.length > 99 and chance(0.5) ? throw("b") : continue()`:                          "",
		`arriving.name == "a" and queue.length > 50 ? throw("a") : arriving.name == "b" and queue.length > 99 ? throw("b") : continue()`:        "",
		`arriving.name in ["a", "b"] and queue.length > 50 ? throw("a") : arriving.name == "b" and queue.length > 99 ? throw("b") : continue()`: `throw("b")` + never,
	} {
		got := warning(t, policy.Spec{On: policy.On(stubs.Enqueue), Expr: expr})
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", expr, got, want)
		}
	}
}
