package analyzer

import (
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// States that tasks of one name, or of one tenant, write for all.
func TestMingledStates(t *testing.T) {
	states := statesOf(map[string]any{"n": 0, "b": false, "d": time.Duration(0), "k": policy.Keyed{First: 0, Keys: 5}})
	for expr, want := range map[string]string{
		`set("n", class.tasks)`:                                                                              "class.tasks is about the tasks of one name, and the state n is one for all: a task of another name overwrites it",
		`set("b", class.service(0.95) > duration("1s"))`:                                                     "class.service(0.95) is about the tasks of one name",
		`class.busy > 3 ? set("b", true) : set("b", false)`:                                                  "class.busy is about the tasks of one name",
		`class.busy > 3 ? set("b", true) : class.busy < 1 ? set("b", false) : continue()`:                    "class.busy is about the tasks of one name",
		`let slow = class.running_mean > duration("1s"); slow ? set("b", true) : set("b", false)`:            "class.running_mean is about",
		`tenant.queued > 3 ? set("b", true) : set("b", false)`:                                               "tenant.queued is about the tasks of one tenant, and the state b is one for all: a task of another tenant overwrites it",
		`set("b", state.b ? class.busy > 1 : class.busy > 3)`:                                                "class.busy is about",
		`class.wait(0.9) > duration("1s") ? set("n", max(1, state.n / 2)) : set("n", min(100, state.n + 1))`: "class.wait(0.9) is about the tasks of one name, and the state n is one for all",
		`class.busy > 3 ? add("n", 1) : add("n", -1)`:                                                        "write add(\"n\", task.name, ...)",
		`class.busy > 3 ? add("n", 1) : continue()`:                                                          "",
		`class.busy > 3 ? set("b", true) : continue()`:                                                       "",
		`class.busy > 3 ? set("b", true) : queue.length < 1 ? set("b", false) : continue()`:                  "",
		`set("b", state.b or class.busy > 3)`:                                                                "",
		`set("d", state.d * 0.9 + class.running_mean * 0.1)`:                                                 "",
		`max("n", class.busy)`:                                                                               "",
		`set("k", task.name, class.busy)`:                                                                    "",
		`task.name == "a" ? set("n", class.busy) : continue()`:                                               "",
		`task.name in pattern("a*") and class.busy > 3 ? set("b", true) : set("b", false)`:                   "",
		`set("n", queue.length)`:                                                                             "",
		`queue.length > 9 ? set("n", 1) : class.busy > 9 ? (set("n", 2); set("b", true)) : set("b", true)`:   "",
		`queue.length > 9 ? set("n", 1) : class.busy > 9 ? set("b", true) : set("n", 2)`:                     "",
	} {
		checkSpec(t, states, on(stubs.Exit, expr), want)
	}
	for name, want := range map[string]string{"a": "", "a*": "is one for all", "default": "is one for all"} {
		checkSpec(t, states, of(policy.Match{Tasks: []string{name}}, on(stubs.Exit, `set("n", class.tasks)`)), want)
	}
}

// An "or" of which one side is about all labels but one.
func TestUnsetLabels(t *testing.T) {
	const all = `also holds for tasks without the label, and leads to throw("x") by itself`
	for cond, want := range map[string]string{
		`task.labels.job != "x" or task.running > duration("1s")`:                           `task.labels.job != "x" ` + all,
		`task.running > duration("1s") or task.labels.job not in ["x", "y"]`:                all,
		`let other = task.labels.job != "x"; task.running > duration("1s") or other`:        all,
		`not (task.labels.job == "x" and task.running < duration("1s"))`:                    all,
		`task.labels.job != "" and task.labels.job != "x" or task.running > duration("1s")`: "",
		`task.labels.job != "x" and task.running > duration("1s")`:                          "",
		`task.labels.job != "x"`:                                                       "",
		`task.labels.job == "x" or task.running > duration("1s")`:                      "",
		`task.labels.job != "" or task.running > duration("1s")`:                       "",
		`task.name != "x" or task.running > duration("1s")`:                            "",
		`task.labels.job not in ["x", ""] or task.running > duration("1s")`:            "",
		`task.running > duration("9s") or task.labels.job != "x" and queue.length > 9`: "",
	} {
		checkSlip(t, policy.Every(1e6), cond+` ? throw("x") : continue()`, want)
	}
	checkSlip(t, policy.Every(1e6), `task.labels.job != "x" or task.slice > duration("1s") ? switch() : continue()`, "")
}

// Counts of throws on ticks, which go on until the task has ended.
func TestCountsOfThrows(t *testing.T) {
	const again = "counts a task more than once: each tick throws again until the task passes its next safe point"
	for effect, want := range map[string]string{
		`add("n", 1)`:              `add("n", 1) ` + again,
		`set("n", state.n + 1)`:    again,
		`set("n", 1)`:              "",
		`set("d", runtime.uptime)`: "",
		`add("k", task.name, 1)`:   again,
	} {
		checkSlip(t, policy.Every(1e6), `task.running > duration("1s") ? (`+effect+`; throw("x")) : continue()`, want)
		checkSlip(t, policy.On(stubs.Enqueue), strings.ReplaceAll(`queue.length > 9 ? (`+effect+`; throw("x")) : continue()`, "task.name", "arriving.name"), "")
	}
}
