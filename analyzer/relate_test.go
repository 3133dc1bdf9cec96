package analyzer

import (
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Comparisons of stubs that are related.
func TestRelatedStubs(t *testing.T) {
	tick, enqueue := policy.Every(time.Millisecond), policy.On(stubs.Enqueue)
	for _, c := range []struct {
		on         policy.Trigger
		cond, want string // want "": no warning
	}{
		{enqueue, `class.busy > class.tasks`, "class.busy > class.tasks is always false: class.busy is never greater than class.tasks; class.tasks counts the tasks that run, too"},
		{enqueue, `class.busy == class.tasks`, ""},
		{enqueue, `class.tasks > class.busy`, ""},
		{enqueue, `queue.safe > queue.length`, "queue.safe is never greater than queue.length"},
		{enqueue, `queue.length > 9 and queue.length < queue.safe + 3`, ""},
		{enqueue, `queue.length == 0 and class.queued > 0`, "class.queued > 0 is always false: class.queued is always 0 here"},
		{enqueue, `queue.length < 5 and tenant.queued > 5`, "tenant.queued > 5 is always false: tenant.queued is 0 to 4 here"},
		{enqueue, `queue.length == 0 and queue.oldest > duration("1s")`, "is always false"},
		{enqueue, `queue.oldest > duration("1s") and queue.length > 0`, ""},
		{enqueue, `queue.wait(0.5) > queue.wait(0.99)`, "queue.wait(0.5) is never greater than queue.wait(0.99)"},
		{enqueue, `queue.wait(0.99) > 3 * queue.wait(0.5)`, ""},
		{enqueue, `queue.wait(0.5, duration("1s")) > queue.wait(0.99)`, ""},
		{enqueue, `loop.busy > loop.slots`, "loop.busy is never greater than loop.slots; loop.busy counts slots, and a full loop has loop.busy == loop.slots"},
		{enqueue, `loop.busy >= loop.slots and arriving.priority < 0`, ""},
		{enqueue, `tenant.busy > loop.busy`, ""}, // of a slot that is lent, two tasks run
		{tick, `task.running > task.elapsed`, "task.running is never greater than task.elapsed"},
		{tick, `task.running * 2 > task.elapsed and task.elapsed > duration("1s")`, ""},
		{tick, `task.section_running > duration("1s") and task.section == ""`, `task.section == "" is always false`},
		{tick, `task.section_running > duration("1s") and task.section == "json"`, ""},
		{tick, `task.elapsed < duration("1s") and task.waited > duration("2s")`, `task.waited > duration("2s") is always false`},
		{tick, `task.slice > task.running`, ""}, // running leaves out what the processor did for other work
	} {
		s := policy.Spec{Name: "p", On: c.on, Expr: c.cond + ` ? throw("x") : continue()`}
		got := warnings(t, s)
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s:\n got %s\nwant %s", c.cond, got, c.want)
		}
	}
}

// warnings returns all warnings about a policy.
func warnings(t *testing.T, s policy.Spec) string {
	t.Helper()
	p, err := s.Parse(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Verify(p, LimitsOf(s))
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, w := range v.Warnings() {
		texts = append(texts, w.Error.Error())
	}
	return strings.Join(texts, "\n")
}
