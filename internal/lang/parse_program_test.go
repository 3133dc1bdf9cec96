package lang

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

func TestParseOnEvents(t *testing.T) {
	for _, c := range []struct {
		on   stubs.Event
		text string
		want string
	}{
		{stubs.Enqueue, `arriving.name == "a" and arriving.kind == "safe" and arriving.labels.x == "" ? switch() : continue()`, ""},
		{stubs.Enqueue | stubs.Start, `arriving.name == "a" ? switch() : continue()`, "arriving.name is not known on start; it is set on enqueue only"},
		{stubs.Custom, `event.name == "a" and event.value > 1 ? switch() : continue()`, ""},
		{stubs.Custom | stubs.Exit, `event.value > 1 ? cancel() : continue()`, "event.value is not known on exit"},
		{stubs.Exit, `task.running > duration("1s") ? set("overloaded", true) : continue()`, ""},
		{stubs.Exit, `task.cancelled ? throw("x") : continue()`, "1:18: throw() has no task to act on: the policy is evaluated on exit"},
		{stubs.Exit | stubs.Start, `switch()`, "switch() has no task to act on"},
		{stubs.Enqueue, `rank(arriving.deadline)`, ""},
		{stubs.Enqueue, `arriving.kind == "safe" ? (rank(-1); switch()) : rank(bytes("1MiB"))`, ""},
		{stubs.Enqueue, `arriving.priority < 0 ? background() : continue()`, ""},
		{stubs.Enqueue, `background(1)`, "1:1: background"},
		{stubs.Exit, `background()`, "background() has no task to act on: the policy is evaluated on exit"},
		{stubs.Tick, `task.background and queue.length > 0 ? switch() : continue()`, ""},
		{stubs.Tick, `rank(1)`, "1:1: rank() is about the task that arrives, and the policy is evaluated on tick; evaluate the policy on enqueue alone"},
		{stubs.Enqueue | stubs.Start, `rank(1)`, "and the policy is evaluated on enqueue+start"},
		{stubs.Enqueue, `rank(0.5 * loop.utilization)`, "1:6: a rank is an int, a duration or a size in bytes, and 0.5 * loop.utilization is a float; write int(0.5 * loop.utilization)"},
		{stubs.Enqueue, `rank(arriving.name)`, "and arriving.name is a name"},
		{stubs.Enqueue, `rank(task.stack)`, "and task.stack is a list of names"},
		{stubs.Enqueue, `rank()`, "1:1: rank"},
		{stubs.Enqueue, `rank(1, 2)`, "1:1: rank"},
		{stubs.Enqueue, `rank(1) > 2 ? switch() : continue()`, "rank() is an effect and no value"},
		{stubs.Enqueue, `interval(duration("1ms"))`, "interval() changes the interval of a time policy, and this one is evaluated on enqueue"},
	} {
		env := testEnv
		env.On = c.on
		_, err := Parse(c.text, env)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("on %v %s: error %v, want %q", c.on, c.text, err, c.want)
		}
	}
}

func TestParseWithoutStates(t *testing.T) {
	for _, text := range []string{`state.x ? switch() : continue()`, `set("x", 1)`, `call("F")`, `state`} {
		if _, err := Parse(text, Env{}); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

func TestSnapshotLayout(t *testing.T) {
	p, err := Parse(`"a" in task.stack and task.running > duration("1s") and task.labels.a == task.labels["b"]
		and any(task.stack, # == "b") and task.running < state.budget and task.labels["a"] != "" ? switch() : continue()`, testEnv)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range p.Reads {
		got = append(got, fmt.Sprintf("%d %q %v %d+%d", r.Stub, r.Key, r.Type, r.Offset, r.Words))
	}
	want := []string{
		fmt.Sprintf(`%d "" list of names 0+17`, stubs.TaskStack),
		fmt.Sprintf(`%d "" duration 17+1`, stubs.TaskRunning),
		fmt.Sprintf(`%d "a" name 18+1`, stubs.TaskLabels),
		fmt.Sprintf(`%d "b" name 19+1`, stubs.TaskLabels),
		fmt.Sprintf(`%d "budget" duration 20+1`, stubs.State),
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || p.Words != 21 {
		t.Errorf("%d words\n%s\nwant\n%s", p.Words, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestEffectsKeepTheirOrder(t *testing.T) {
	p, err := Parse(`set("count", 1); call("Alarm"); task.cancelled ? (set("count", 2); throw("a")) : (cancel(); throw("b"))`, testEnv)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range p.Sites {
		got = append(got, s.Effect.String()+s.Name)
	}
	if want := "setcount callAlarm setcount cancel"; strings.Join(got, " ") != want {
		t.Errorf("sites %v, want %s", got, want)
	}
	if strings.Join(p.Reasons, " ") != "a b" {
		t.Errorf("reasons %v", p.Reasons)
	}
}

func TestErrorStory(t *testing.T) {
	_, err := Parse("let limit = 5;\n\ttask.running > limit\n? switch() : continue()", testEnv)
	const want = `policy.expr:2:2: task.running is a duration and limit is a plain number
  2 |  task.running > limit
    |  ^^^^^^^^^^^^^^^^^^^^
  hint: write duration("5ms")`
	if got := fmt.Sprintf("%+v", err); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := fmt.Sprintf("%v|%s", err, err); got != err.Error()+"|"+err.Error() {
		t.Errorf("got %s", got)
	}
}

func TestErrorf(t *testing.T) {
	p, err := Parse(`task.cancelled ? switch() : continue()`, testEnv)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Errorf(p.Root.B, "a hint", "bad %d", 3); got.Error() != "policy.expr:1:18: bad 3; a hint" || got.End-got.Pos != len("switch()") {
		t.Errorf("%v %+v", got, got)
	}
	if got := p.Errorf(nil, "", "bad"); got.Error() != "policy.expr:1:1: bad" {
		t.Errorf("%v", got)
	}
}

func TestErrorsNameWhatIsNotRegistered(t *testing.T) {
	for text, want := range map[string][2]string{
		`state.overlodaed ? switch() : continue()`: {"overlodaed", ""},
		`set("overlodaed", true)`:                  {"overlodaed", ""},
		`call("Alram")`:                            {"", "Alram"},
		`len("x") > 1 ? switch() : continue()`:     {"", ""},
	} {
		_, err := Parse(text, testEnv)
		var e *ir.Error
		if !errors.As(err, &e) || [2]string{e.NoState, e.NoFunc} != want {
			t.Errorf("%s: %+v; want the names %q", text, err, want)
		}
	}
}
