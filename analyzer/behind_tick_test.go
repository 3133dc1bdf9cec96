package analyzer

import (
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
)

// Limits on ticks of which one ends all tasks before the other.
func TestLimitsBehindLimits(t *testing.T) {
	limit := func(cond string) policy.Spec {
		return policy.Spec{On: policy.Every(time.Millisecond), Expr: cond + ` ? throw("x") : continue()`}
	}
	report := policy.Match{Tasks: []string{"report"}}
	short, long := limit(`task.running > duration("500ms")`), limit(`task.running > duration("2s")`)
	force := long
	force.Force = true
	rare := limit(`task.cancelled and task.running > duration("1s")`)
	rare.On.Interval = time.Second
	byName, err := policy.TimeLimit{Func: "report", Limit: 100 * time.Millisecond}.Spec()
	if err != nil {
		t.Fatal(err)
	}
	ends := func(which, by string) string {
		return `policy "` + which + `": policy.expr:1:33: throw("x") is never reached: the ` + by + `" ends these tasks before`
	}
	checkFlows(t, Declared{}, []flowCase{
		{"the shorter one first", []policy.Spec{short, long}, ends("p1", `policy "p0`)},
		{"the longer one first", []policy.Spec{long, short}, ends("p0", `policy "p1`)},
		{"the same", []policy.Spec{short, short}, `policy "p1"`},
		{"for some tasks", []policy.Spec{of(report, short), long}, ""},
		{"for others", []policy.Spec{of(policy.Match{Except: []string{"report"}}, short), of(report, long)}, ""},
		{"for all and for some", []policy.Spec{of(report, long), short}, ends("p0", `policy "p1`)},
		{"a limit of a name", []policy.Spec{byName, of(report, long)}, ends("p1", `limit of "report`)},
		{"under load", []policy.Spec{limit(`task.running > duration("500ms") and queue.length > 9`), long}, ""},
		{"elapsed", []policy.Spec{limit(`task.elapsed > duration("1s")`), long}, ends("p1", `policy "p0`)},
		{"elapsed, later", []policy.Spec{limit(`task.elapsed > duration("5s")`), long}, ""},
		{"sections", []policy.Spec{limit(`task.sections["a"] > duration("2s")`), short}, "ends these tasks before"},
		{"by force", []policy.Spec{short, force}, ""},
		{"observed", []policy.Spec{in(policy.Observe, short), long}, ""},
		{"rarer ticks", []policy.Spec{rare, limit(`task.cancelled and task.running > duration("2s")`)}, ""},
		{"other reasons first", []policy.Spec{limit(`task.cancelled and queue.length > 9`), limit(`queue.length > 3 and task.cancelled`)}, ""},
	})
}
