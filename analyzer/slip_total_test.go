package analyzer

import (
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// Totals that nothing lowers.
func TestTotalsOfTenants(t *testing.T) {
	for cond, want := range map[string]string{
		`tenant.running > duration("10s")`:                         `tenant.running only goes up, so tenant.running > duration("10s") is decided for good some day`,
		`queue.length > 9 and tenant.thrown >= 100`:                "tenant.thrown only goes up",
		`tenant.running / duration("1s") > 10 or queue.length > 9`: "tenant.running only goes up",
		`tenant.running > runtime.uptime / 2`:                      "",
		`tenant.queued > 10`:                                       "",
	} {
		checkSlip(t, policy.On(stubs.Enqueue), cond+` ? throw("x") : continue()`, want)
	}
}

// Bounds on a number of tasks that end all of them.
func TestBoundsEndAll(t *testing.T) {
	const all = `throw("x") ends all running tasks of the `
	for cond, want := range map[string]string{
		`class.busy > 10`: all + "name at once",
		`class.tasks > 10 and task.name != "health"`:        all + "name at once",
		`tenant.busy > 10 and queue.length > 3`:             all + "tenant at once",
		`class.busy > 10 and task.running > duration("1s")`: "",
		`tenant.busy > 10 and task.priority < 0`:            "",
		`tenant.busy > 10 and chance(0.1)`:                  "",
		`tenant.rate > 10 and task.labels.tier == "free"`:   "",
	} {
		checkSlip(t, policy.Every(time.Millisecond), cond+` ? throw("x") : continue()`, want)
	}
	checkSlip(t, policy.On(stubs.Enqueue), `class.tasks > 10 ? throw("x") : continue()`, "")
}

// Names that read like patterns, or like the word for all other tasks.
func TestWholeNames(t *testing.T) {
	const letters, word = "is compared letter by letter, and its stars stand for nothing else", `"default" is a name here`
	for cond, want := range map[string]string{
		`arriving.name == "GET /admin/*"`:               `"GET /admin/*" ` + letters,
		`arriving.name not in ["GET /admin/*", "POST"]`: letters,
		`arriving.name in pattern("GET /admin/*")`:      "",
		`arriving.name == "regexp.(*Regexp).Match"`:     "",
		`arriving.labels.accept == "text/*"`:            "",
		`arriving.name == "default"`:                    word,
		`arriving.labels.tier == "default"`:             "",
		`loop.name == "default"`:                        "",
	} {
		checkSlip(t, policy.On(stubs.Enqueue), cond+` and queue.length > 9 ? throw("x") : continue()`, want)
	}
	checkSlip(t, policy.Every(time.Millisecond), `task.sections["regexp.*"] > duration("1s") ? throw("x") : continue()`, letters)
	checkSlip(t, policy.Every(time.Millisecond), `"regexp.*" in task.stack ? throw("x") : continue()`, letters)
}

// Deadlines as ranks.
func TestRankOfTimeLeft(t *testing.T) {
	for expr, want := range map[string]string{
		`rank(arriving.deadline)`:                                                      "rank(arriving.deadline) is the time left when a task arrives, and no moment",
		`rank(min(arriving.deadline, duration("1m")))`:                                 "is the time left when a task arrives",
		`rank(runtime.uptime + arriving.deadline)`:                                     "",
		`let now = runtime.uptime; rank(now + min(arriving.deadline, duration("1m")))`: "",
	} {
		checkSlip(t, policy.On(stubs.Enqueue), expr, want)
	}
}

// Matches that are about the arriving task, where the running one is meant.
func TestMatchOfArriving(t *testing.T) {
	tasks := map[string]document.Class{"report": {Kind: "preemptible"}, "item": {Kind: "safe"}, "job": {Kind: "both"}, "old": {Kind: "atomic"}}
	for name, warned := range map[string]bool{"report": true, "old": false, "item": false, "job": false, "other": false} {
		s := of(policy.Match{Tasks: []string{name}}, on(stubs.Enqueue, `task.running > duration("10ms") ? switch() : continue()`))
		if got := Mismatched(members(t, declared, s), tasks); len(got) > 0 != warned {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
