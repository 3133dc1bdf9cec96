package analyzer

import (
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Rates that one failure soon after the start fulfils.
func TestFirstFailure(t *testing.T) {
	states := statesOf(map[string]any{"failures": 0, "requests": 0})
	for cond, want := range map[string]string{
		`rate("failures", duration("1m")) * 60 >= 5`:                                `rate("failures", duration("1m")) * 60... holds after one failure within 12s of the start: until its window has passed, a rate is the growth divided by the time so far; write ... and state.failures >= 5`,
		`let a_minute = 60 * rate("failures", duration("1m")); 4.5 < a_minute`:      `holds after one failure within 13.333s of the start`,
		`rate("failures", duration("30s")) > 0.5`:                                   `holds after one failure within 2s`,
		`rate("failures", duration("1m")) * 60 >= 5 and state.failures >= 5`:        "",
		`rate("failures", duration("1m")) * 60 > 100`:                               "", // for less than a second
		`rate("failures", duration("1m")) * 60 >= 1`:                                "", // one failure is enough
		`rate("failures", duration("2h")) > 0.5`:                                    "", // one failure is a 64th of the window at most
		`rate("requests", duration("1m")) * 60 >= 5`:                                "",
		`rate("failures", duration("1m")) > 0.5 * rate("requests", duration("1m"))`: "",
		`rate("failures", duration("1m")) * 60 < 5 and queue.length > 9`:            "",
	} {
		checkSpec(t, states, on(stubs.Enqueue, cond+` ? throw("x") : continue()`), want)
	}
}

// Throws into tasks that have used more time than is left to them.
func TestTimeLeft(t *testing.T) {
	tick := policy.Every(time.Millisecond)
	const meets = ` compares with the time left: task.deadline falls while task.elapsed grows, and throw("x") meets tasks that still have time; write task.deadline < duration("0s")`
	for cond, want := range map[string]string{
		`task.elapsed > task.deadline`:                                                        `task.elapsed > task.deadline` + meets,
		`not (task.deadline > task.elapsed)`:                                                  `(task.deadline > task.elapsed)` + meets,
		`task.running >= task.deadline and queue.length > 9`:                                  `task.deadline falls while task.running grows`,
		`task.elapsed > 9 * task.deadline`:                                                    "", // nine tenths are over
		`task.deadline < duration("0s")`:                                                      "",
		`task.elapsed < task.deadline and task.elapsed > duration("1s") and queue.length > 9`: "",
	} {
		checkSpec(t, nil, policy.Spec{On: tick, Expr: cond + ` ? throw("x") : continue()`}, want)
	}
	checkSpec(t, nil, policy.Spec{On: tick, Expr: `task.elapsed > task.deadline and queue.safe > 0 and not task.background ? background() : continue()`}, "")
}
