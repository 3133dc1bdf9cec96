package analyzer

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// A stub has fewer values on some events than the catalogue says.
func TestValuesOnEvents(t *testing.T) {
	const itself = "the task itself counts on "
	for _, c := range []struct {
		on   stubs.Event
		cond string
		want string // of the first warning; "": there is none
	}{
		{stubs.Enqueue, `class.tasks == 0`, `class.tasks == 0 is always false: class.tasks is 1 or more here; ` + itself + "enqueue"},
		{stubs.Enqueue, `class.tasks > 0`, `class.tasks > 0 is always true: class.tasks is 1 or more here; ` + itself + "enqueue"},
		{stubs.Enqueue, `runtime.tasks < 1`, `runtime.tasks < 1 is always false`},
		{stubs.Enqueue, `class.tasks > 1`, ""},
		{stubs.Enqueue, `class.busy > 0`, ""},
		{stubs.Enqueue, `loop.busy > 0`, ""},
		{stubs.Enqueue, `arriving.running > duration("1s")`, `arriving.running > duration("1s") is always false: arriving.running is 0s to 1ms here; a task that arrives has not run yet on enqueue`},
		{stubs.Start, `loop.busy == 0`, `loop.busy == 0 is always false`},
		{stubs.Start, `class.busy >= 1 and queue.length > 3`, `class.busy >= 1 is always true`},
		{stubs.Start, `task.section == "a"`, `task.section == "a" is always false: task.section is "" here; a task that has not run has no open section on start`},
		{stubs.Start, `task.section in pattern("a*")`, `task.section in pattern("a*") is always false`},
		{stubs.Start, `int(task.section, 3) == 4`, `int(task.section, 3) == 4 is always false`},
		{stubs.Start, `"a" in task.stack`, `"a" in task.stack is always false; a task that has not run has no open section on start`},
		{stubs.Start, `count(task.stack, true) > 2`, `count(task.stack, true) > 2 is always false`},
		{stubs.Exit, `task.section != ""`, `task.section != "" is always false`},
		{stubs.Exit, `task.sections["a"] > duration("1s")`, `task.sections["a"] > duration("1s") is always false`},
		{stubs.Exit | stubs.Leave, `"a" in task.stack`, `"a" in task.stack is always false; a task that ends has no open section, and a task that has not run has no open section on exit+leave`},
		{stubs.Exit | stubs.Block, `task.section != ""`, ""},
		{stubs.Exit, `queue.length == 0`, ""},
		{stubs.Leave, `queue.length == 0`, `queue.length == 0 is always false`},
		{stubs.Tick, `class.tasks < 1`, `class.tasks < 1 is always false`},
		{stubs.Tick, `runtime.tasks >= 1 and task.running > duration("1h")`, ""},
	} {
		act := "throw"
		if c.on&stubs.Ends != 0 {
			act = `set("n", 1); continue`
		}
		got := warning(t, policy.Spec{On: trigger(c.on), Expr: c.cond + ` ? (` + strings.Replace(act, "throw", `throw("x")`, 1) + strings.Repeat("()", strings.Count(act, "continue")) + `) : continue()`})
		if (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%v: %s\n got %s\nwant %s", c.on, c.cond, got, c.want)
		}
	}
	// a policy without a throw is evaluated for tasks that return from a block, too
	if got := warning(t, policy.Spec{On: policy.On(stubs.Enqueue), Expr: `rank(arriving.running > duration("1s") ? 1 : 0)`}); got != "" {
		t.Error(got)
	}
}

func trigger(on stubs.Event) policy.Trigger {
	if on == stubs.Tick {
		return policy.Every(time.Minute)
	}
	return policy.On(on)
}

// What holds on an event is no fact of the proof.
func TestEventsProveNothing(t *testing.T) {
	env := testEnv
	env.On = stubs.Enqueue
	p, err := lang.Parse(`1 / class.tasks > 0 ? throw("x") : continue()`, env)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(p, Limits{}); err == nil {
		t.Error("the division is proved by the event")
	}
}

// Patterns and names that contradict each other.
func TestTiedNames(t *testing.T) {
	tasks := func(names ...string) policy.Match { return policy.Match{Tasks: names} }
	for _, c := range []struct {
		match policy.Match
		cond  string
		want  string
	}{
		{policy.Match{}, `task.name in pattern("GET *") and task.name in pattern("POST *")`, `task.name in pattern("POST *") is always false`},
		{policy.Match{}, `task.name in pattern("GET *") and task.name in pattern("*")`, `task.name in pattern("*") is always true`},
		{policy.Match{}, `task.name in pattern("GET /a/*") or task.name in pattern("GET /*")`, ""},
		{policy.Match{}, `task.name in pattern("GET /*") or task.name in pattern("GET /a/*")`, `task.name in pattern("GET /a/*") is always false`},
		{policy.Match{}, `task.name in pattern("GET /*") and task.name not in pattern("GET /a/*")`, ""},
		{policy.Match{}, `task.name in pattern("GET *") and task.name in pattern("*/a")`, ""},
		{policy.Match{}, `task.name in pattern("GET *") and task.labels.name in pattern("POST *")`, ""},
		{policy.Match{}, `task.name == "POST /" and task.name in pattern("GET *")`, `task.name in pattern("GET *") is always false`},
		{policy.Match{}, `task.name in pattern("GET *") and task.name == "POST /"`, `task.name == "POST /" is always false`},
		{policy.Match{}, `task.name in ["GET /", "POST /"] and task.name in pattern("GET *")`, ""},
		{policy.Match{}, `task.section == "" and task.section in pattern("a*")`, `task.section in pattern("a*") is always false`},
		{tasks("GET *"), `task.name in pattern("POST *")`, `task.name in pattern("POST *") is always false; match lets no other tasks through`},
		{tasks("GET /a*"), `task.name in pattern("GET *")`, `task.name in pattern("GET *") is always true; match lets no other tasks through`},
		{tasks("GET *", "job"), `task.name in pattern("GET *")`, ""},
		{tasks("GET *"), `task.name in pattern("*/a")`, ""},
		{tasks("*"), `task.name in pattern("a*")`, ""},
		{policy.Match{Except: []string{"GET *"}}, `task.name in pattern("GET /*")`, `task.name in pattern("GET /*") is always false`},
		{policy.Match{Tasks: []string{"GET /a*"}, Except: []string{"GET *"}}, `task.name in pattern("GET /*")`, `task.name in pattern("GET /*") is always true`},
		{policy.Match{Except: []string{"GET /a*"}}, `task.name in pattern("GET /*")`, ""},
		{tasks("a", "b"), `task.name in pattern("a*") and task.name == "b"`, `task.name == "b" is always false`},
	} {
		got := warning(t, policy.Spec{On: policy.On(stubs.Block), Match: c.match, Expr: c.cond + ` ? throw("x") : continue()`})
		if (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v: %s\n got %s\nwant %s", c.match, c.cond, got, c.want)
		}
	}
}

// TestDocEventBounds holds the table of docs/policy.md to the bounds, and to being complete.
func TestDocEventBounds(t *testing.T) {
	text, err := os.ReadFile("../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "  | stub | on | value |\n  | --- | --- | --- |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	said := map[string]bool{}
	for row := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(row, " |\n"), " | ")
		for stub := range strings.SplitSeq(strings.Trim(cells[0], " |"), ", ") {
			for on := range strings.SplitSeq(strings.Replace(cells[1], "all", strings.ReplaceAll(stubs.AnyEvent.String(), "+", ", "), 1), ", ") {
				value, _, _ := strings.Cut(strings.Trim(cells[2], " |\n"), " ")
				said[fmt.Sprintf("%s on %s is %s", strings.Trim(stub, "`"), on, strings.Trim(value, ","))] = true
			}
		}
	}
	throws := &ir.Program{Reasons: []string{"x"}}
	for _, stub := range stubs.Catalogue {
		for event := stubs.Tick; event <= stubs.Custom; event <<= 1 {
			if b, ok := On(throws, stub.ID, event); ok {
				line := fmt.Sprintf("%s on %v is %d", stub.Path, event, b.Least)
				if !said[line] {
					t.Errorf("docs/policy.md does not say that %s", line)
				}
				delete(said, line)
			}
		}
	}
	for line := range said {
		t.Errorf("docs/policy.md says that %s", line)
	}
}
