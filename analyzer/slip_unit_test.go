package analyzer

import (
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Numbers that change nothing, shares of one task, processors, and times that do not compare.
func TestIdleNumbers(t *testing.T) {
	for cond, want := range map[string]string{
		`queue.length * 1 > 3`:                                      "queue.length * 1 multiplies by 1, which changes nothing",
		`1 * queue.length > 3`:                                      "1 * queue.length multiplies by 1",
		`queue.length > 1 * loop.slots`:                             "",
		`1 * queue.length + 2 * loop.busy > 9`:                      "",
		`arriving.cost / 1 > duration("1s")`:                        "arriving.cost / 1 divides by 1",
		`arriving.cost / 1.0 > duration("1s")`:                      "arriving.cost / 1.0 divides by 1",
		`arriving.cost * 1 > duration("1s")`:                        "arriving.cost * 1 multiplies by 1",
		`arriving.cost / duration("1ns") > 5.0`:                     "",
		`queue.length + 0 > 3`:                                      "queue.length + 0 adds 0",
		`queue.oldest - duration("0s") > duration("1s")`:            `queue.oldest - duration("0s") subtracts 0`,
		`queue.length + 1 > 3`:                                      "",
		`tenant.tasks > runtime.tasks / 2`:                          "tenant.tasks > runtime.tasks / 2 is true for a task that arrives alone",
		`not (tenant.tasks < runtime.tasks / 2)`:                    "(tenant.tasks < runtime.tasks / 2) is false for a task that arrives alone",
		`tenant.rate > 0.5 * loop.rate`:                             "tenant.rate > 0.5 * loop.rate is true for a task that arrives alone",
		`runtime.tasks > 9 and tenant.tasks > runtime.tasks / 2`:    "",
		`tenant.queued > queue.length / 2`:                          "tenant.queued > queue.length / 2 is true for a task that is the only one to wait",
		`tenant.queued * 2 > queue.length and queue.length > 9`:     "",
		`loop.utilization * 100 > 0.9`:                              "loop.utilization * 100 is a percentage of 0 to 100, and 0.9 is less than 1 of that",
		`loop.utilization * 100 > 90`:                               "",
		`loop.utilization > 0.9 and tenant.tasks * 2 > loop.busy`:   "",
		`class.busy * 2 >= loop.slots and queue.length > 3`:         "",
		`tenant.tasks > 50`:                                         "",
		`runtime.cpu > 90`:                                          "runtime.cpu counts processors, and is not a percentage: 90 are more than most machines have",
		`runtime.cpu > 0.9`:                                         "",
		`runtime.cpu > 12`:                                          "",
		`arriving.deadline - runtime.uptime < duration("1ms")`:      "arriving.deadline is a time span of tasks, from which arriving.deadline - runtime.uptime subtracts the time since the runtime was made",
		`duration("1ms") > arriving.deadline - runtime.uptime`:      "arriving.deadline is a time span of tasks",
		`arriving.deadline - queue.oldest < duration("1ms")`:        "",
		`runtime.uptime - queue.oldest < state.d`:                   "",
		`arriving.deadline < state.d - runtime.uptime`:              "",
		`arriving.deadline < runtime.uptime`:                        "runtime.uptime is the time since the runtime was made, and arriving.deadline a time span of tasks",
		`runtime.uptime < duration("30s") and queue.length > 3`:     "",
		`runtime.uptime + arriving.deadline < state.d`:              "",
		`arriving.deadline + arriving.cost < duration("0s")`:        "arriving.deadline + arriving.cost adds the time that the task needs to the time that it has",
		`arriving.cost + queue.oldest > arriving.deadline`:          "",
		`runtime.heap > bytes("512B")`:                              `runtime.heap > bytes("512B") is true for each heap of 1MiB to 16TiB`,
		`runtime.heap > bytes("512MB")`:                             "",
		`runtime.heap / bytes("1B") > 512`:                          `runtime.heap / bytes("1B") > 512 is true for each heap`,
		`runtime.heap / bytes("1MiB") > 536_870_912`:                "is false for each heap of 1MiB to 16TiB",
		`runtime.heap / bytes("1MiB") > 512`:                        "",
		`runtime.heap > state.n * bytes("1B")`:                      "",
		`arriving.name in pattern("*") and queue.length > 3`:        `pattern("*") matches all names, and the empty one`,
		`arriving.name in pattern("*/health") and queue.length > 3`: "",
	} {
		checkIdleNumber(t, LimitsOf(policy.Spec{}), cond, want)
	}
	for cond, want := range map[string]string{
		`runtime.cpu >= 8`:   "runtime.cpu >= 8 is never true: runtime.cpu counts processors, and the process has 8",
		`90 < runtime.cpu`:   "90 < runtime.cpu is never true",
		`runtime.cpu > 7.2`:  "",
		`runtime.cpu > 0.9`:  "0.9 is a share of one processor, and the process has 8",
		`runtime.cpu > 0.2`:  "",
		`runtime.cpu <= 0.9`: "",
	} {
		checkIdleNumber(t, Limits{Processors: 8}, cond+` and queue.length > 3`, want)
	}
}

func checkIdleNumber(t *testing.T, limits Limits, cond, want string) {
	t.Helper()
	s := on(stubs.Enqueue, cond+` ? throw("x") : continue()`)
	s.Name = "p"
	p, err := s.Parse(declared, nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Verify(p, limits)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range v.Warnings() {
		got = append(got, w.Reason)
	}
	if all := strings.Join(got, "\n"); (want == "") != (all == "") || !strings.Contains(all, want) {
		t.Errorf("%s\n got %q\nwant %q", cond, got, want)
	}
}

// A sum that counts the arriving task twice.
func TestCostOfTheArrivingTask(t *testing.T) {
	const twice = "counts the arriving task twice: while it waits, queue.cost includes it; write max(queue.cost, arriving.cost)"
	for cond, want := range map[string]string{
		`queue.cost + arriving.cost > arriving.deadline`:               "queue.cost + arriving.cost " + twice,
		`let mine = arriving.cost; mine + queue.cost > duration("1s")`: "mine + queue.cost " + twice,
		`max(queue.cost, arriving.cost) > arriving.deadline`:           "",
		`queue.cost / loop.slots + arriving.cost > arriving.deadline`:  "",
		`queue.oldest + arriving.cost > arriving.deadline`:             "",
	} {
		checkSlip(t, policy.On(stubs.Enqueue), cond+` ? throw("x") : continue()`, want)
	}
}

// A retry time that is a moment is refused, or warned of if a state holds the moment.
func TestRetryAtMoment(t *testing.T) {
	for retry, refused := range map[string]bool{
		`runtime.uptime`:                                     true,
		`runtime.uptime + duration("5s")`:                    true,
		`max(runtime.uptime + queue.oldest, duration("1s"))`: true,
		`runtime.uptime - duration("1s")`:                    true,
		`state.d - runtime.uptime`:                           false,
		`runtime.uptime - state.d`:                           false,
		`max(state.d - runtime.uptime, duration("1s"))`:      false,
		`min(runtime.uptime, duration("1m"))`:                false,
		`queue.oldest + duration("1s")`:                      false,
		`state.d`:                                            false,
	} {
		s := on(stubs.Enqueue, `queue.length > 9 ? throw("x", `+retry+`) : continue()`)
		s.Name = "p"
		p, err := s.Parse(declared, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Verify(p, LimitsOf(s))
		if told := err != nil && strings.Contains(err.Error(), "is a moment: the time since the runtime was made"); told != refused {
			t.Errorf("%s: %v", retry, err)
		}
	}
	open := on(stubs.Exit, `task.elapsed > duration("1s") ? set("d", runtime.uptime + duration("10s")) : continue()`)
	later := on(stubs.Exit, `task.elapsed > duration("1s") ? set("d", max(state.d, runtime.uptime + duration("10s"))) : continue()`)
	span := on(stubs.Exit, `set("d", task.elapsed)`)
	refuse := func(retry string) policy.Spec {
		return on(stubs.Enqueue, `runtime.uptime < state.d ? throw("x", `+retry+`) : continue()`)
	}
	checkFlows(t, Declared{}, []flowCase{
		{"a moment", []policy.Spec{open, refuse(`state.d`)}, "the retry time is a time span, and state.d is a moment: policies set it by runtime.uptime"},
		{"a later moment", []policy.Spec{later, refuse(`state.d + duration("1s")`)}, `state.d + duration("1s") is a moment`},
		{"time left", []policy.Spec{open, refuse(`state.d - runtime.uptime`)}, ""},
		{"a time span", []policy.Spec{span, on(stubs.Enqueue, `queue.length > 9 ? throw("x", state.d) : continue()`)}, ""},
	})
}
