package analyzer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
)

// Limits of which another policy ends all tasks, or all sections, before.
func TestHiddenLimits(t *testing.T) {
	limit := func(f string) policy.Spec {
		s, err := policy.TimeLimit{Func: f, Limit: time.Second}.Spec()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	tick := func(cond string) policy.Spec {
		return policy.Spec{On: policy.Every(time.Millisecond), Expr: cond + ` ? throw("x") : continue()`}
	}
	a := policy.Match{Tasks: []string{"a"}}
	for _, c := range []struct {
		name  string
		specs []policy.Spec
		want  bool
	}{
		{"sections", []policy.Spec{limit("a"), tick(`task.sections["a"] > duration("10ms")`)}, true},
		{"sections, later", []policy.Spec{limit("a"), tick(`task.sections["a"] > duration("2s")`)}, false},
		{"sections under load", []policy.Spec{limit("a"), tick(`task.sections["a"] > duration("10ms") and queue.length > 5`)}, false},
		{"other sections", []policy.Spec{limit("a"), tick(`task.sections["b"] > duration("10ms")`)}, false},
		{"sections of some tasks", []policy.Spec{limit("a"), of(policy.Match{Tasks: []string{"b"}}, tick(`task.sections["a"] > duration("10ms")`))}, false},
		{"sections of a pattern", []policy.Spec{limit("a.*"), tick(`task.sections[pattern("a.*")] > duration("10ms")`)}, true},
		{"tasks", []policy.Spec{limit("a"), of(a, tick(`task.running > duration("10ms")`))}, true},
		{"tasks, by the expression", []policy.Spec{limit("a"), tick(`task.name == "a" and task.running > duration("10ms")`)}, true},
		{"tasks, later", []policy.Spec{limit("a"), of(a, tick(`task.running > duration("2s")`))}, false},
		{"tasks on a loop", []policy.Spec{limit("a"), of(policy.Match{Tasks: []string{"a"}, Loops: []string{"l"}}, tick(`task.running > duration("10ms")`))}, false},
		{"tasks of a pattern", []policy.Spec{limit("GET /*"), of(policy.Match{Tasks: []string{"GET /*"}}, tick(`task.running > duration("10ms")`))}, true},
		{"tasks except some", []policy.Spec{limit("GET /*"), of(policy.Match{Tasks: []string{"GET /*"}, Except: []string{"GET /x"}}, tick(`task.running > duration("10ms")`))}, false},
		{"a task with sections of its name", []policy.Spec{limit("a"), of(a, tick(`task.running > duration("10ms")`)), tick(`task.section == "a" and task.cancelled`)}, false},
		{"a declared task", []policy.Spec{limit("declared"), tick(`task.sections["declared"] > duration("10ms")`)}, false},
		{"observed", []policy.Spec{limit("a"), in(policy.Observe, of(a, tick(`task.running > duration("10ms")`)))}, false},
		{"by force", []policy.Spec{forced(limit("a")), of(a, tick(`task.running > duration("10ms")`))}, false},
	} {
		got := fmt.Sprint(remarks(Mismatched(members(t, declared, c.specs...), map[string]document.Class{"declared": {Kind: "safe"}})))
		if c.want != strings.Contains(got, "the limit ends nothing") || !c.want && got != "[]" {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

func forced(s policy.Spec) policy.Spec { s.Force = true; return s }
