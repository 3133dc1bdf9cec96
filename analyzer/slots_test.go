package analyzer

import (
	"maps"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Conditions that a loop's number of slots decides.
func TestDecidedBySlots(t *testing.T) {
	refuse := func(cond string) policy.Spec { return on(stubs.Enqueue, cond+` ? throw("x") : continue()`) }
	spare := refuse(`loop.busy >= loop.slots - 2`)
	const always, never = `is always true on the loop "a", which has 2 slots`, `is always false on the loop "a", which has 2 slots`
	states := maps.Clone(declared)
	states["flag"], _ = policy.StateOf(false)
	off := spare
	off.Mode = policy.Off
	for _, c := range []struct {
		spec  policy.Spec
		slots []int
		want  string
	}{
		{spare, []int{2}, "loop.busy >= loop.slots - 2 " + always},
		{spare, []int{2, 8}, "loop.busy >= loop.slots - 2 " + always},
		{spare, []int{3}, ""},
		{off, []int{2}, ""},
		{refuse(`let most = loop.slots - 2; loop.busy >= most and arriving.priority < 1`), []int{2}, "loop.busy >= most " + always},
		{refuse(`loop.busy < loop.slots - 1 and arriving.priority < 1`), []int{1}, `loop.busy < loop.slots - 1 is always false on the loop "a", which has 1 slot`},
		{refuse(`loop.busy < 8 and arriving.priority < 1`), []int{2}, ""},
		{refuse(`loop.busy > 8 or queue.length > 9`), []int{2}, ""},
		{refuse(`let most = loop.slots - 2; loop.busy >= most`), []int{2}, "loop.busy >= most " + always},
		{refuse(`queue.length >= loop.slots - 2`), []int{2}, "queue.length >= loop.slots - 2 " + always},
		{refuse(`loop.busy > 3 and queue.length > 9`), []int{2}, "loop.busy > 3 " + never},
		{refuse(`loop.busy > 3 and queue.length > 9`), []int{2, 8}, ""},
		{refuse(`loop.busy > 3 and queue.length > 9`), []int{2, 1}, "loop.busy > 3 " + never},
		{refuse(`loop.busy >= max(loop.slots - 2, 1)`), []int{2}, ""},
		{refuse(`loop.slots > 2 and loop.busy >= loop.slots - 2`), []int{2}, ""},
		{refuse(`loop.busy == loop.slots and queue.length > 2 * loop.slots`), []int{1}, ""},
		{refuse(`queue.length > 9`), []int{1}, ""},
		{refuse(`any(1..3, # > loop.busy) and queue.length > 9`), []int{2}, ""},
		{on(stubs.Start, `loop.busy > loop.slots - 2 ? set("flag", true) : set("flag", false)`), []int{2}, "loop.busy > loop.slots - 2 " + always},
	} {
		var loops []Loop
		for i, n := range c.slots {
			loops = append(loops, Loop{string(rune('a' + i)), n})
		}
		m := members(t, states, c.spec)[0]
		got := ""
		if r := OnSlots(m, loops); r != nil {
			got = r.Err.Error()
		}
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s on %v: got %q, want %q", c.spec.Expr, c.slots, got, c.want)
		}
	}
}

// The ready-made policies fit loops of all sizes.
func TestReadymadeFitAllLoops(t *testing.T) {
	quantum, err := policy.AdaptiveQuantum(1e6, 1e8)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []policy.Spec{policy.DefaultPreemption(policy.On(stubs.Enqueue)), quantum, policy.StrictPriority()} {
		for _, slots := range []int{1, 2, 3, 100} {
			if r := OnSlots(members(t, declared, s)[0], []Loop{{"default", slots}}); r != nil {
				t.Errorf("%s on %d slots: %v", s.Name, slots, r.Err)
			}
		}
	}
}

// Without a server, conditions that hold on loops of few slots.
func TestDecidedByFewSlots(t *testing.T) {
	refuse := func(cond string) policy.Spec { return on(stubs.Enqueue, cond+` ? throw("x") : continue()`) }
	for expr, want := range map[string]string{
		`class.tasks > loop.slots / 3`:                              "class.tasks > loop.slots / 3 is always true on a loop that has 2 slots",
		`let most = loop.slots / 2; class.tasks > most`:             "class.tasks > most is always true on a loop that has 1 slot",
		`queue.length >= loop.slots - 3`:                            "queue.length >= loop.slots - 3 is always true on a loop that has 3 slots",
		`class.tasks > (loop.slots + 2) / 3`:                        "",
		`class.tasks > max(loop.slots / 3, 1)`:                      "",
		`loop.slots > 3 and class.tasks > loop.slots / 3`:           "",
		`queue.length > 4 * loop.slots`:                             "",
		`loop.busy >= loop.slots and queue.length > 2 * loop.slots`: "",
		`loop.busy > 3`: "",
	} {
		got := strings.Join(remarks(OnFewSlots(members(t, declared, refuse(expr)))), "\n")
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", expr, got, want)
		}
	}
}
