package analyzer

import (
	"testing"

	"github.com/cocoon-go/cocoon/policy"
)

// Names in front of "and" without brackets.
func TestAndBindsTighter(t *testing.T) {
	const rest = "does not depend on queue.length > 9: and binds tighter than or"
	for cond, want := range map[string]string{
		`arriving.name == "a" or arriving.name == "b" and queue.length > 9`:                         `arriving.name == "a" ` + rest,
		`queue.length > 9 and arriving.name == "a" or arriving.name == "b"`:                         `arriving.name == "b" ` + rest,
		`arriving.name == "a" or arriving.name in pattern("b*") and queue.length > 9`:               rest,
		`arriving.labels.t == "a" or arriving.labels.t in ["b", "c"] and queue.length > 9`:          rest,
		`arriving.kind == "safe" or arriving.kind == "both" and queue.length > 9 and loop.busy > 3`: `depend on queue.length > 9 and loop.busy > 3`,
		`(arriving.name == "a" or arriving.name == "b") and queue.length > 9`:                       "",
		`arriving.name == "a" or (arriving.name == "b" and queue.length > 9)`:                       "",
		`arriving.name in ["a", "b"] and queue.length > 9`:                                          "",
		`arriving.labels.t == "a" or arriving.name == "b" and queue.length > 9`:                     "",
		`arriving.name == "a" and queue.length > 5 or arriving.name == "b" and queue.length > 9`:    "",
		`arriving.name == "a" or arriving.name in pattern("b*") and arriving.name != "bb"`:          "",
		`arriving.priority < 0 and queue.length > 5 or queue.length > 9`:                            "",
	} {
		checkIdleNumber(t, LimitsOf(policy.Spec{}), cond, want)
	}
}
