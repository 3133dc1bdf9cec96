package lang

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/stubs"
)

// goodFigures parse in testEnv; want is what they read.
var goodFigures = []struct{ text, want string }{
	{`queue.wait(0.99) > duration("1s") ? throw("x") : continue()`, `queue.wait(0.99)`},
	{`(queue.wait)(0.5, duration("30s")) > duration("1s") ? switch() : continue()`, ``}, // no call of a stub
	{`class.service(0.95, duration("30s")) > class.wait(0.5) ? switch() : continue()`, `class.service(0.95, duration("30s")) class.wait(0.5)`},
	{`let q = 1 / 4.0; let w = 2 * duration("5s"); loop.service(q, w) > loop.service(0.25) ? switch() : continue()`, `loop.service(0.25)`},
	{`class.busy > 3 and class["queued"] > 1 and class.tasks > 4 and class.running_mean > class.waited_mean ? throw("x") : continue()`,
		`class.busy class.queued class.tasks class.running_mean class.waited_mean`},
	{`queue.cost > duration("1s") and tenant.rate > 10 and loop.rate > 1.5 ? throw("x") : continue()`, `queue.cost tenant.rate loop.rate`},
	{`rate("count", duration("5m")) > 2 and rate("budget", duration("1s")) > rate("count", duration("300s")) ? throw("x") : continue()`,
		`rate("count", duration("5m0s")) rate("budget", duration("1s"))`},
	{`let n = "budget"; average(n, duration("10s")) > state.budget and average("count", duration("10s")) > 0.5 ? switch() : continue()`,
		`average("budget", duration("10s")) state.budget average("count", duration("10s"))`},
	{`average("size", duration("10s")) > bytes("1MiB") and average("ratio", duration("168h")) > 1 ? switch() : continue()`,
		`average("size", duration("10s")) average("ratio", duration("168h0m0s"))`},
}

func TestFigures(t *testing.T) {
	for _, c := range goodFigures {
		p, err := Parse(c.text, testEnv)
		if c.want == "" {
			if err == nil {
				t.Errorf("%s: no error", c.text)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v", err)
			continue
		}
		checkProgram(t, p)
		var reads []string
		for _, r := range p.Reads {
			reads = append(reads, r.String())
		}
		if got := strings.Join(reads, " "); got != c.want {
			t.Errorf("%s\nreads %s\nwant  %s", c.text, got, c.want)
		}
		for _, r := range p.Reads { // what a read is printed as reads the same
			again, err := Parse(fmt.Sprintf("%s == %[1]s ? switch() : continue()", r), testEnv)
			if err != nil || again.Reads[0].String() != r.String() {
				t.Errorf("%v: %+v", r, err)
			}
		}
	}
}

func TestFiguresRefused(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`queue.wait > duration("1s")`, `1:1: queue.wait needs a quantile; write queue.wait(0.99)`},
		{`queue.wait.x > duration("1s")`, `queue.wait needs a quantile`},
		{`queue.wait() > duration("1s")`, `1:1: queue.wait takes a quantile, and a window if it is not 10s; not 0 arguments; write queue.wait(0.99), or queue.wait(0.99, duration("30s"))`},
		{`queue.wait(0.9, duration("1s"), 3) > duration("1s")`, `not 3 arguments`},
		{`queue.wait(0) > duration("1s")`, `1:12: a quantile is between 0 and 1, and 0 is not; write 0.99 for`},
		{`queue.wait(1.0) > duration("1s")`, `a quantile is between 0 and 1, and 1.0 is not`},
		{`queue.wait(99) > duration("1s")`, `a quantile is between 0 and 1, and 99 is not; write 0.99 for that percentile`},
		{`queue.wait(-0.5) > duration("1s")`, `a quantile is between 0 and 1, and -0.5 is not`},
		{`queue.wait(0.0 / 0.0) > duration("1s")`, `0.0 / 0.0 divides by zero`},
		{`queue.wait(loop.utilization) > duration("1s")`, `a quantile is a plain constant, and loop.utilization is a float`},
		{`queue.wait(duration("1s")) > duration("1s")`, `a quantile is a plain constant, and duration("1s") is a duration`},
		{`queue.wait("p99") > duration("1s")`, `a quantile is a plain constant, and "p99" is a string`},
		{`queue.wait(0.5, "1m") > duration("1s")`, `a window is a constant duration, and "1m" is a string; write duration("1m")`},
		{`queue.wait(0.5, 10) > duration("1s")`, `a window is a constant duration, and 10 is a plain number; write it like duration("30s")`},
		{`queue.wait(0.5, task.running) > duration("1s")`, `a window is a constant duration, and task.running is a duration`},
		{`queue.wait(0.5, duration("1ns")) > duration("1s")`, `1:17: the window 1ns is not between 10ms and 168h0m0s`},
		{`class.service(0.5, duration("1000h")) > duration("1s")`, `the window 1000h0m0s is not between`},
		{`queue.length(0.5) > 3`, `1:1: queue.length(0.5) is not a function; remove the parentheses`},
		{`state.count(0.5) > 3`, `state.count(0.5) is not a function`},
		{`task.labels.x(0.5) > 3`, `task.labels.x(0.5) is not a function`},
		{`queue.wiat(0.5) > duration("1s")`, `there is no state stub queue.wiat; did you mean queue.wait?`},
		{`class.length > 3`, `there is no state stub class.length; there is class.tasks, `},
		{`foo.wait(0.5) > duration("1s")`, `there is no foo`},
		{`queue.wait(0.5) in 1..2`, `queue.wait(0.5) is a duration`},
		{`queue.wait(0.5) > 3`, `queue.wait(0.5) is a duration and 3 is a plain number`},
		{`rate("count") > 3`, `rate takes 2 arguments, not 1`},
		{`rate("cuont", duration("1s")) > 3`, `there is no state "cuont"; did you mean count?`},
		{`rate("overloaded", duration("1s")) > 3`, `rate() is for numbers, and the state overloaded is a bool`},
		{`average("mode", duration("1s")) > 3`, `average() is for numbers, and the state mode is a name`},
		{`rate(state.count, duration("1s")) > 3`, `the name of a state must be a string constant, and state.count is a count`},
		{`rate("count", duration("1ms")) > 3`, `the window 1ms is not between 10ms and 168h0m0s`},
		{`rate("count", state.budget) > 3`, `a window is a constant duration, and state.budget is a duration`},
		{`average("budget", duration("1s")) > 3`, `is a duration and 3 is a plain number`},
		{`rate("count", duration("1s"))`, `the condition must be a bool, and rate("count", duration("1s")) is a float`},
		{`let rate = 3; rate > 2`, `rate already means something else`},
	} {
		_, err := Parse(c.text+" ? switch() : continue()", testEnv)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.text, err, c.want)
			continue
		}
		checkError(t, err)
	}
}

// Classes are of a task, as tenants are: on ticks such a policy is about each running task.
func TestClassesAreOfTasks(t *testing.T) {
	for text, want := range map[string]stubs.Event{
		`class.busy > 3 ? set("overloaded", true) : continue()`:                        stubs.Tick,
		`class.wait(0.5) > duration("1s") ? set("overloaded", true) : continue()`:      stubs.Tick,
		`queue.wait(0.5) > duration("1s") ? set("overloaded", true) : continue()`:      0,
		`rate("count", duration("1s")) > loop.rate ? set("count", 1) : continue()`:     0,
		`loop.service(0.5) > queue.cost ? set("budget", queue.wait(0.5)) : continue()`: 0,
	} {
		p, err := Parse(text, testEnv)
		if err != nil || p.ForEach() != want {
			t.Errorf("%s: %v, %v", text, p.ForEach(), err)
		}
	}
}
