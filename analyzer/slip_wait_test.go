package analyzer

import (
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// checkSlip verifies a policy and compares its only warning with a part of it; "" is none.
func checkSlip(t *testing.T, trigger policy.Trigger, expr, want string) {
	t.Helper()
	checkSpec(t, declared, policy.Spec{On: trigger, Expr: expr}, want)
}

// checkSpec checks the warnings about one policy; of want "" there is none.
func checkSpec(t *testing.T, states map[string]policy.State, s policy.Spec, want string) {
	t.Helper()
	s.Name = "p"
	p, err := s.Parse(states, nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Verify(p, LimitsOf(s))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range v.Warnings() {
		got = append(got, w.Reason+"; "+w.Hint)
	}
	if all := strings.Join(got, "\n"); (want == "") != (all == "") || !strings.Contains(all, want) {
		t.Errorf("%s\n got %q\nwant %q", s.Expr, got, want)
	}
}

// Throws about the wait of another task, and about a wait that is over.
func TestOtherWaits(t *testing.T) {
	const others, over = "is about the oldest task that still waits", "meets tasks that have their slot"
	for cond, want := range map[string]string{
		`queue.oldest > duration("1s")`:                                  `queue.oldest > duration("1s") ` + others,
		`not (queue.oldest <= duration("1s") or queue.length < 3)`:       others,
		`queue.oldest > state.d`:                                         others,
		`queue.oldest > duration("1s") and task.priority < 0`:            "",
		`queue.oldest > duration("1s") and task.labels.tier == "free"`:   "",
		`queue.oldest > duration("1s") and task.waited > duration("1s")`: "",
		`queue.oldest > task.deadline`:                                   "",
		`queue.oldest > duration("1s") and chance(0.5)`:                  "",
		`queue.oldest > duration("1s") and loop.name == "batch"`:         "",
		`task.waited > duration("1s")`:                                   "",
	} {
		checkSlip(t, policy.On(stubs.Start), cond+` ? throw("x") : continue()`, want)
	}
	checkSlip(t, policy.On(stubs.Enqueue), `queue.oldest > duration("1s") ? throw("x") : continue()`, "")
	for cond, want := range map[string]string{
		`task.waited > duration("1s")`:                                     `throw("x") ` + over,
		`task.waited > duration("1s") and task.name in ["a", "b"]`:         over,
		`task.waited > duration("1s") or task.running > duration("1s")`:    over,
		`task.waited > duration("1s") and task.running < duration("10ms")`: "",
		`task.waited > duration("1s") and queue.length > 9`:                "",
		`task.waited + task.running > duration("1s")`:                      "",
		`task.elapsed > duration("1s")`:                                    "",
	} {
		checkSlip(t, policy.Every(time.Millisecond), cond+` ? throw("x") : continue()`, want)
	}
}

// Switches after a time of all slices together.
func TestEndlessTurns(t *testing.T) {
	const slices = "ends each further slice at its first tick: task.running is the time of all slices"
	for cond, want := range map[string]string{
		`task.running > duration("10ms")`:                                  `task.running > duration("10ms") stays true, and switch() ` + slices,
		`task.running > duration("10ms") and queue.suspended > 0`:          slices,
		`let long = task.running >= duration("10ms"); long`:                slices,
		`task.running > duration("10ms") and queue.safe > 0`:               "",
		`task.slice > duration("10ms") and queue.length > 0`:               "",
		`task.slice > duration("5ms") and task.running > duration("10ms")`: "",
		`task.running > duration("10ms") and task.preemptions < 3`:         "",
		`task.running > class.running_mean`:                                "",
		`task.running > duration("10ms") and "regex.match" in task.stack`:  "",
		`task.running > duration("10ms") * (task.preemptions + 1)`:         "",
	} {
		checkSlip(t, policy.Every(time.Millisecond), cond+` ? switch() : continue()`, want)
	}
}

// Means of a class that no task lowers while all are refused.
func TestLastingMeans(t *testing.T) {
	const lasts = "and only tasks that have been let in lower it"
	for cond, want := range map[string]string{
		`class.running_mean > duration("1s")`:                               `throw("x") refuses all tasks of a name while their class.running_mean is high, ` + lasts,
		`class.waited_mean > duration("1s") or queue.length > 9`:            lasts,
		`class.running_mean > duration("1s") and queue.length > 9`:          "",
		`class.running_mean > duration("1s") and chance(0.95)`:              "",
		`class.running_mean > duration("1s") and arriving.name != "health"`: "",
		`class.service(0.5) > duration("1s")`:                               "",
	} {
		checkSlip(t, policy.On(stubs.Enqueue), cond+` ? throw("x") : continue()`, want)
	}
}

// Time that a task was blocked, where no wait is going on.
func TestBlockedBefore(t *testing.T) {
	const blocked = "task.blocked does not grow while a policy sees the task, and ends no wait"
	long := `task.blocked > duration("5s")`
	for _, c := range []struct {
		on   policy.Trigger
		cond string
		want string
	}{
		{policy.On(stubs.Block), long, `throw("x") meets tasks that begin another wait: ` + blocked},
		{policy.Every(time.Millisecond), long, "meets tasks that are back from their waits: " + blocked},
		{policy.On(stubs.Unblock), long, ""},
		{policy.On(stubs.Block), long + ` and queue.length > 9`, ""},
		{policy.Every(time.Millisecond), long + ` and task.running > duration("1s")`, ""},
	} {
		checkSlip(t, c.on, c.cond+` ? throw("x") : continue()`, c.want)
	}
}
