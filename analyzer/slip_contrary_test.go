package analyzer

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Verdicts on little load, little time and high priorities, and rules that look like them.
func TestVerdictsOnTheWrongGrounds(t *testing.T) {
	tick, enqueue, start := policy.Every(time.Millisecond), policy.On(stubs.Enqueue), policy.On(stubs.Start)
	const low, urgent, long = "is low, and none while it is high", "urgent tasks, and no others", "tasks that have much time, and none that have little"
	for _, c := range []struct {
		on         policy.Trigger
		cond, want string // want "": no warning
	}{
		{enqueue, `class.tasks < 9`, "refuses tasks while class.tasks " + low},
		{enqueue, `tenant.queued < 9`, low},
		{enqueue, `tenant.rate < 100.0`, low},
		{enqueue, `queue.wait(0.99) < duration("100ms")`, "while queue.wait(0.99) " + low},
		{enqueue, `loop.busy < loop.slots`, low},
		{enqueue, `float(loop.busy) / float(loop.slots) < 0.9`, low},
		{enqueue, `loop.busy + queue.length < state.limit`, low},
		{enqueue, `runtime.heap < bytes("1GiB")`, low},
		{enqueue, `arriving.labels.tier == "free" and queue.length < 10`, low},
		{enqueue, `arriving.priority < 0 and not (queue.length > 100)`, low},
		{enqueue, `chance(0.5) and queue.length < 10`, low},
		{tick, `runtime.heap < bytes("1GiB") and task.running > duration("1s")`, "ends tasks while runtime.heap " + low},
		{enqueue, `class.busy < 2 and queue.length > 10`, ""},                  // the class has its share
		{enqueue, `chance(0.01) and loop.utilization < 0.5`, ""},               // an injected fault
		{enqueue, `queue.length < (state.n > 0 ? 5 : 100) ? false : true`, ""}, // hysteresis
		{enqueue, `loop.slots < 4`, ""},
		{enqueue, `queue.length % 10 < 5`, ""},
		{enqueue, `runtime.uptime < duration("30s")`, ""},

		{tick, `task.running < duration("100ms")`, "ends tasks while task.running " + low},
		{tick, `task.name == "a" and task.elapsed < duration("1s")`, low},
		{enqueue, `arriving.cost < duration("1s")`, low},
		{start, `task.waited < duration("1s")`, low},
		{tick, `queue.length > 100 and task.running < duration("10ms")`, ""}, // little work is lost
		{tick, `task.cancelled and task.running < duration("1s")`, ""},
		{tick, `task.running > duration("1s") and task.running < duration("9s")`, ""},
		{tick, `state.n > 0 and task.running < duration("1s")`, ""},

		{start, `task.deadline > duration("5ms")`, "ends " + long},
		{enqueue, `arriving.labels.tier == "free" and arriving.deadline > duration("100ms")`, "refuses " + long},
		{enqueue, `arriving.deadline > duration("30s")`, ""}, // a client must set one
		{enqueue, `queue.length > 100 and arriving.deadline > duration("100ms")`, ""},

		{enqueue, `arriving.priority > 5`, "refuses " + urgent},
		{enqueue, `queue.length > 100 and arriving.priority > 5`, urgent},
		{enqueue, `arriving.priority < -9 or arriving.priority > 9`, ""},              // out of range
		{enqueue, `arriving.labels.tier == "free" and arriving.priority > 5`, ""},     // not allowed to these
		{tick, `task.priority > 5 and task.running > duration("1s")`, ""},             // batches may take longer
		{enqueue, `arriving.priority > 5 and queue.wait(0.9) > duration("10ms")`, ""}, // too late for these
		{tick, `task.labels.victim == "yes" and not task.cancelled`, ""},              // once is enough
		{enqueue, `queue.length < 5 ? arriving.priority < 0 : queue.length > 99`, ""}, // fewer places for some
		{enqueue, `queue.oldest > duration("1s") or queue.length < 10`, "queue.length < 10 leads to throw(\"x\") by itself, while queue.length is low"},
		{enqueue, `runtime.heap > bytes("1GiB") or not (loop.utilization > 0.9)`, "not (loop.utilization > 0.9) leads to throw(\"x\") by itself"},
		{enqueue, `not (queue.length > 10 and arriving.cost > duration("1s"))`, low},
		{tick, `not task.cancelled or task.running > duration("1s")`, "not task.cancelled leads to throw(\"x\") by itself, for each task that has a caller"},
		{tick, `task.running < duration("1s") or task.cancelled`, "task.running < duration(\"1s\") leads to"},
		{tick, `not (task.running > duration("1s")) or task.cancelled`, "leads to"},
		{tick, `task.cancelled or task.elapsed > duration("9s") and task.running < duration("1s")`, ""}, // it mostly waits
		{enqueue, `queue.length < 10 or queue.length > 100`, ""},                                        // a range
		{enqueue, `queue.length > 100 and (tenant.busy > 5 or class.busy < 2)`, ""},
		{enqueue, `queue.length > 100 or tenant.busy > 5 and class.busy < 2`, ""},
		{enqueue, `queue.length > 9 or chance(0.01) and loop.busy < 9`, ""},
		{enqueue, `queue.length > 9 and arriving.priority < 0 and take("bucket", 1)`, ""},
	} {
		got := warning(t, policy.Spec{On: c.on, Expr: "(" + c.cond + `) ? throw("x") : continue()`})
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s:\n got %s\nwant %s", c.cond, got, c.want)
		}
	}
	const unmeasured = ` is 0s until a task has been measured, and throw("x") then ends each task`
	const firstOfName = ` is 0s until a task of the name has been measured, and throw("x") refuses each one while other tasks wait`
	for cond, want := range map[string]string{
		`task.running > 5 * class.service(0.95)`:                                                      "class.service(0.95)" + unmeasured,
		`task.elapsed > class.running_mean * 5 and task.name == "a"`:                                  "class.running_mean" + unmeasured,
		`task.running - loop.service(0.9) > duration("0s")`:                                           "loop.service(0.9)" + unmeasured,
		`class.service(0.95) > duration("0s") and task.running > 5 * class.service(0.95)`:             "",
		`task.running > max(duration("10ms"), 5 * class.service(0.95))`:                               "",
		`task.running > duration("1s") and task.running > 5 * class.service(0.95)`:                    "",
		`task.running > 5 * class.service(0.95) and queue.length < 9`:                                 low,
		`task.running > duration("1s") and class.service(0.95) < duration("1s") and queue.length < 9`: low,
	} {
		if got := warning(t, policy.Spec{On: tick, Expr: cond + ` ? throw("x") : continue()`}); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", cond, got, want)
		}
	}
	for cond, want := range map[string]string{
		`queue.oldest > 10 * class.running_mean`:                                         "class.running_mean" + firstOfName,
		`arriving.name == "a" and queue.cost > 100 * class.service(0.5)`:                 "class.service(0.5)" + firstOfName,
		`queue.oldest > max(10 * class.running_mean, duration("100ms"))`:                 "",
		`queue.oldest > 10 * class.running_mean + duration("100ms")`:                     "",
		`class.running_mean > duration("0s") and queue.oldest > 10 * class.running_mean`: "",
		`queue.length > loop.slots + 2 and queue.oldest > 10 * class.running_mean`:       "",
		`queue.oldest > 10 * loop.service(0.5)`:                                          "", // other tasks are measured
		`queue.oldest > duration("100ms") and class.running_mean < duration("10ms")`:     "",
		`queue.length > 99 and class.running_mean * queue.length < 2 * queue.cost`:       "",
		// not about the first of a name, so later cases are looked at
		`queue.length > 99 and loop.service(0.5) < duration("10ms") and arriving.priority > 5`: urgent,
	} {
		if got := warning(t, policy.Spec{On: enqueue, Expr: cond + ` ? throw("x") : continue()`}); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", cond, got, want)
		}
	}
	for expr, want := range map[string]string{
		`queue.length < 10 ? throw("a") : arriving.priority < 0 ? throw("b") : continue()`:                                        "queue.length " + low,
		`queue.length > 99 ? throw("a") : state.n > 0 ? throw("b") : continue()`:                                                  "",
		`queue.length < 50 ? (arriving.priority < 0 ? throw("a") : continue()) : arriving.priority < 9 ? throw("a") : continue()`: "",
		`arriving.priority > 5 ? throw("a") : arriving.priority < -5 ? throw("b") : continue()`:                                   "",
	} {
		if got := warning(t, policy.Spec{On: enqueue, Expr: expr}); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", expr, got, want)
		}
	}
	for cond, want := range map[string]string{
		`task.slice < duration("10ms") and queue.safe > 0`:                                   "suspends tasks while task.slice " + low,
		`task.slice > duration("10ms") and queue.safe > 0`:                                   "",
		`task.running < duration("10ms") and queue.safe > 0`:                                 "",
		`task.slice < duration("10ms") and task.running > duration("1s") and queue.safe > 0`: "",
	} {
		if got := warning(t, policy.Spec{On: tick, Expr: cond + ` ? switch() : continue()`}); (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", cond, got, want)
		}
	}
}

// Each stub of the catalogue is decided on: it gives a reason for a verdict, or none.
func TestReasonsOfAllStubs(t *testing.T) {
	for _, stub := range stubs.Catalogue {
		_, gives := stubReasons[stub.ID]
		if none := slices.Contains(noReason, stub.ID); gives == none {
			t.Errorf("%s is in stubReasons: %v, and in noReason: %v; want one of the two, both in slip_load.go", stub.Path, gives, none)
		}
	}
}

// A bound of the running tasks alone, and rules that use it in another way.
func TestBoundsOfRunningTasks(t *testing.T) {
	for cond, want := range map[string]string{
		`class.busy >= 5`: "class.busy >= 5 bounds no number of tasks: class.busy counts the tasks that run",
		`arriving.labels.tier == "free" and tenant.busy > 3`: "tenant.busy > 3 bounds no number of tasks",
		`class.tasks >= 5`:                                        "",
		`class.busy >= 5 and queue.length > 10`:                   "",
		`class.busy >= 5 and class.service(0.9) > duration("1s")`: "",
	} {
		got := warning(t, policy.Spec{On: policy.On(stubs.Enqueue), Expr: cond + ` ? throw("x") : continue()`})
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", cond, got, want)
		}
	}
}
