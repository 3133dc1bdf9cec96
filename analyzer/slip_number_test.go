package analyzer

import (
	"testing"

	"github.com/cocoon-go/cocoon/stubs"
)

// Reasons that give another limit of a count than the condition has.
func TestReasonsAgainstCounts(t *testing.T) {
	for _, c := range []struct{ cond, reason, want string }{
		{`class.tasks >= 3`, "at most 3 exports at a time", `"at most 3 exports at a time" and class.tasks >= 3 do not agree: the limit is 2 here, and 3 there; compare with 4, or correct the reason`},
		{`class.tasks > 3`, "at most 3 exports at a time", ""},
		{`3 < class.tasks`, "at most three exports", ""},
		{`3 <= class.tasks`, "At most three exports", `3 <= class.tasks do not agree: the limit is 2 here, and 3 there; compare with 4`},
		{`let most = 4; class.tasks > most`, "no more than 5", `the limit is 4 here, and 5 there; compare with 5`},
		{`class.tasks >= 4`, "at most 3, please", ""},
		{`queue.length >= 100`, "more than 100 tasks wait", `the limit is 99 here, and 100 there; compare with 101`},
		{`queue.length > 99`, "at least 100 tasks wait", ""},
		{`queue.length > 100`, "at least 100 tasks wait", `the limit is 100 here, and 99 there; compare with 99`},
		{`queue.length > 500`, "more than 50 tasks wait", `the limit is 500 here, and 50 there; compare with 50`},
		{`queue.length > 500`, "more than 400 tasks wait", ""}, // of other tasks, perhaps
		{`not (queue.length <= 9)`, "up to 10 may wait", `the limit is 9 here, and 10 there`},
		{`arriving.priority <= 5 and queue.length > 50`, "only priorities of at least 5 are served", `the limit is 5 here, and 4 there; compare with 4`},
		{`arriving.priority < 5 and queue.length > 50`, "only priorities of at least 5 are served", ""},
		{`arriving.priority < 1 and state.n >= 1`, "at most 1 import", ""},
		{`state.n >= 3`, "at most 3 imports", ""}, // the state does not count the arriving task
		{`class.tasks >= 3 and queue.length > 9`, "at most 3 exports while more than 9 tasks wait", ""},
		{`class.tasks >= 3`, "at most 3 exports per second", ""},
		{`class.tasks >= 3`, "over 3 s", ""},
		{`class.tasks >= 3`, "over 3% are late", ""},
		{`class.tasks >= 3`, "over 3 MiB", ""},
		{`class.tasks >= 3`, "over 3.5 exports", ""},
		{`class.tasks >= 3`, "3 exports", ""},
		{`class.tasks > 3 and class.busy >= 3`, "at most 3 exports", ""},
	} {
		checkSpec(t, declared, on(stubs.Enqueue, c.cond+` ? throw("`+c.reason+`") : continue()`), c.want)
	}
}
