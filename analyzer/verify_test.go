package analyzer

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

var testEnv = lang.Env{
	On: stubs.Tick,
	States: map[string]stubs.Type{"i": stubs.Int, "f": stubs.Float, "b": stubs.Bool, "d": stubs.Duration, "n": stubs.Name, "j": stubs.Int, "g": stubs.Float,
		"k": stubs.Duration, "bucket": stubs.Float, "buckets": stubs.Float, "other": stubs.Float},
	Tables: map[string]lang.Table{"k": {Keyed: true}, "bucket": {Burst: 5}, "buckets": {Keyed: true, Burst: 5}, "other": {Burst: 5}},
	Funcs:  map[string]bool{"Trace": true},
}

func verify(t *testing.T, text string, limits Limits) (Verified, error) {
	t.Helper()
	p, err := lang.Parse(text, testEnv)
	if err != nil {
		t.Fatalf("%s\ndoes not parse: %v", text, err)
	}
	return Verify(p, limits)
}

func TestZeroProvesNothing(t *testing.T) {
	if v := (Verified{}); v.Program() != nil || v.Cost() != 0 || v.Warnings() != nil {
		t.Errorf("got %v", v)
	}
}

func TestVerified(t *testing.T) {
	v, err := verify(t, `task.running > duration("1s") ? throw("too long") : continue()`, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if v.Program() == nil || v.Cost() != ir.Bound(v.Program().Root) || len(v.Warnings()) != 0 {
		t.Errorf("cost %d, warnings %v", v.Cost(), v.Warnings())
	}
}

// divisions are conditions that divide; those with want "" are guarded.
var divisions = []struct{ text, want string }{
	{`1 / queue.length > 0`, "queue.length may be 0 here"},
	{`1 % queue.length > 0`, "queue.length may be 0 here"},
	{`1 / loop.slots > 0`, ""},
	{`1 / state.i > 0`, "state.i may be 0 here"},
	{`1.0 / state.f > 0`, "state.f may be 0 here"},
	{`1 / (queue.length - queue.length) > 0`, "may be 0 here"},
	{`let zero = 0; 1 / zero > 0`, ""}, // the front end's error
	{`state.i / 0 > 0`, "0 is always 0 here"},
	{`state.i == 0 and 1 / state.i > 0`, "state.i is always 0 here"},
	{`queue.length > 0 and 1 / queue.length > 0`, ""},
	{`queue.length >= 1 and 1 / queue.length > 0`, ""},
	{`0 < queue.length and 1 / queue.length > 0`, ""},
	{`queue.length != 0 and 1 / queue.length > 0`, ""},
	{`queue.length >= 0 and 1 / queue.length > 0`, "queue.length may be 0 here"},
	{`queue.length == 0 or 1 / queue.length > 0`, ""},
	{`queue.length > 0 or 1 / queue.length > 0`, "queue.length is always 0 here"},
	{`not (queue.length == 0) and 1 / queue.length > 0`, ""},
	{`not (queue.length == 0 or state.b) and 1 / queue.length > 0`, ""},
	{`not (queue.length == 0 and state.b) and 1 / queue.length > 0`, "queue.length may be 0 here"},
	{`(queue.length > 0 or queue.safe > 0) and 1 / queue.length > 0`, "queue.length may be 0 here"},
	{`(queue.length > 2 or queue.length == 1) and 1 / queue.length > 0`, ""},
	{`(queue.length > 0 ? 1 / queue.length : 0) > 0`, ""},
	{`(queue.length > 0 ? 0 : 1 / queue.length) > 0`, "queue.length is always 0 here"},
	{`1 / (queue.length > 0 ? queue.length : 1) > 0`, ""},
	{`1 / max(queue.length, 1) > 0`, ""},
	{`1 / max(queue.length, 0) > 0`, "may be 0 here"},
	{`1 / (abs(state.i) + 1) > 0`, ""},
	{`1 / abs(state.i) > 0`, "may be 0 here"},
	{`1 / (queue.length + 1) > 0`, ""},
	{`1 / (2 * queue.length + 1) > 0`, ""},
	{`1 / (queue.length - 1) > 0`, "may be 0 here"},
	{`queue.length > 1 and 1 / (queue.length - 1) > 0`, ""},
	{`queue.length - 1 > 0 and 9 / queue.length > 0`, ""},
	{`state.i != 0 and 1 / state.i > 0`, ""},
	{`state.i != 0 and 1 / -state.i > 0`, ""},
	{`state.i != 1 and 1 / state.i > 0`, "state.i may be 0 here"},
	{`state.i != 1 and 1 / (state.i - 1) > 0`, ""},
	{`state.i != state.j and 1 / (state.i - state.j) > 0`, ""},
	{`state.i != state.j and 1 / (state.j - state.i) > 0`, ""},
	{`loop.busy < loop.slots and 1 / (loop.slots - loop.busy) > 0`, ""},
	{`loop.busy <= loop.slots and 1 / (loop.slots - loop.busy) > 0`, "may be 0 here"},
	{`loop.slots - loop.busy > 0 and 1 / (loop.slots - loop.busy) > 0`, ""},
	{`let free = loop.slots - loop.busy; free > 0 and 1 / free > 0`, ""},
	{`let n = queue.length; n > 0 and 1 / queue.length > 0`, ""},
	{`let n = queue.length; queue.length > 0 and 1 / n > 0`, ""},
	{`let some = queue.length > 0; some and 1 / queue.length > 0`, ""},
	{`let some = queue.length > 0; not some or 1 / queue.length > 0`, ""},
	{`let some = queue.length > 0; some == true and 1 / queue.length > 0`, ""},
	{`let some = queue.length > 0; some == state.b and 1 / queue.length > 0`, "queue.length may be 0 here"},
	{`(queue.length > 0 ? true : false) and 1 / queue.length > 0`, ""},
	{`task.running / task.elapsed > 0.5`, `task.elapsed != duration("0s")`},
	{`task.elapsed > duration("0s") and task.running / task.elapsed > 0.5`, ""},
	{`task.elapsed > task.waited and task.running / (task.elapsed - task.waited) > 0.5`, ""},
	{`loop.utilization > 0 and 1.0 / loop.utilization > 2.0`, ""},
	{`loop.utilization >= 0 and 1.0 / loop.utilization > 2.0`, "loop.utilization may be 0 here"},
	{`state.f != 0.0 and 1.0 / state.f > 2.0`, ""},
	{`state.f > 0 and 1.0 / state.f > 2.0`, ""},
	{`not (state.f <= 0) and 1.0 / state.f > 2.0`, ""}, // it may be NaN, and is not 0
	{`not (state.f < 0) and 1.0 / state.f > 2.0`, "state.f may be 0 here"},
	{`not (state.f <= state.g) and 1.0 / (state.f - state.g) > 2.0`, ""}, // NaN, or more
	{`1.0 / max(1.0, state.f) > 0.5 and 1.0 / max(state.f, 1.0) > 0.1 and 1.0 / min(-1.0, state.f) < 0`, ""},
	{`1.0 / min(1.0, state.f) > 2.0`, "may be 0 here"},
	{`min(1.0, max(0.0, state.f)) > 0.1 and 1.0 / state.f > 2.0`, ""},
	{`not (min(1.0, max(0.0, state.f)) <= 0.1) and 1.0 / state.f > 2.0`, ""},
	{`not (max(state.g, state.f) >= 0) and 1.0 / state.f > 2.0`, "state.f may be 0 here"},          // the other may be NaN
	{`task.deadline + state.d != state.d and task.elapsed / task.deadline > 0.5`, `may be 0 here`}, // the sum may stop at the farthest
	{`task.deadline - state.d > duration("0s") and task.elapsed / (task.deadline - state.d) > 0.5`, ""},
	{`float(queue.length) > 0.5 and 1 / queue.length > 0`, ""},
	{`any(1..3, 1 / # > 0)`, ""},
	{`any(0..3, 1 / # > 0)`, "# may be 0 here"},
	{`any(0..3, # > 0 and 1 / # > 0)`, ""},
	{`any(task.stack, queue.length > 0) and 1 / queue.length > 0`, "queue.length may be 0 here"},
	{`queue.length > 0 and any(task.stack, 1 / queue.length > 0)`, ""},
	{`task.name == "a" and 1 / (task.name == "a" ? 1 : 0) > 0`, ""},
}

func TestDivisionByZero(t *testing.T) {
	for _, test := range divisions {
		p, err := lang.Parse("("+test.text+`) ? throw("x") : continue()`, testEnv)
		if err != nil {
			if test.want == "" && strings.Contains(err.Error(), "by zero") {
				continue
			}
			t.Errorf("%s\ndoes not parse: %v", test.text, err)
			continue
		}
		_, err = Verify(p, Limits{})
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s\nrefused: %v", test.text, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s\ngot %v\nwant %q", test.text, err, test.want)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`queue.length + 9223372036854775807 > 5 ? throw("x") : continue()`, ""}, // only where queue.length > 0
		{`loop.slots + 9223372036854775807 > 5 ? throw("x") : continue()`, "loop.slots + 9223372036854775807 always overflows"},
		{`queue.length > 0 and queue.length * 9223372036854775807 > 0 ? throw("x") : continue()`, ""},
		{`queue.length > 1 and queue.length * 9223372036854775807 > 0 ? throw("x") : continue()`, "always overflows"},
		{`int(loop.utilization * 1e300 + 1e19) > 5 ? throw("x") : continue()`, "never fits an integer"},
		{`int(loop.utilization * 1e300) > 5 ? throw("x") : continue()`, ""},
		{`queue.length < 0 ? throw("x") : continue()`, `the policy can only continue: throw("x") is never reached, because queue.length < 0 is always false`},
		{`false ? set("b", true) : continue()`, `the policy can only continue: set("b", true) is never reached`},
		{`task.kind == "safe" and task.kind == "atomic" ? switch() : continue()`, `because task.kind == "atomic" is always false: task.kind is "safe" here`},
		{`set("b", true); queue.length < 0 ? throw("x") : continue()`, ""},
		{`continue()`, ""},
		{`state.i < state.j and state.i - state.j == -9223372036854775807 - 1 ? throw("x") : continue()`, ""},
		{`state.i < state.j and state.i - state.j == 0 ? throw("x") : continue()`, "can only continue"},
		{`state.f == state.g and state.f - state.g != 0.0 ? throw("x") : continue()`, ""}, // infinities
		{`state.f != state.g and state.f - state.g == 0.0 ? throw("x") : continue()`, "can only continue"},
		{`interval(task.running > duration("1s") ? duration("1ns") : duration("2ns"))`, "an interval is 5µs to 24h0m0s"},
		{`interval(task.running > duration("1s") ? duration("1ns") : duration("1ms"))`, ""},
	} {
		_, err := verify(t, test.text, Limits{})
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s\nrefused: %v", test.text, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s\ngot  %v\nwant %q", test.text, err, test.want)
		}
	}
}

func TestWarnings(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string // "place: reason"
	}{
		{`continue()`, []string{"continue(): the policy does nothing: it has no throw, switch or effect"}},
		{`queue.length >= 0 ? throw("x") : continue()`, []string{"queue.length >= 0: queue.length >= 0 is always true: queue.length is 0 or more here"}},
		{`queue.length >= 0 ? throw("x") : switch()`, []string{
			"queue.length >= 0: queue.length >= 0 is always true: queue.length is 0 or more here", "switch(): switch() is never reached"}},
		{`task.kind == "safe" ? throw("x") : task.kind == "safe" ? switch() : continue()`, []string{
			`task.kind == "safe": task.kind == "safe" is always false: task.kind is "atomic" or "preemptible" or "both" here`, "switch(): switch() is never reached"}},
		{`task.kind in ["safe", "both"] and task.kind != "atomic" ? throw("x") : continue()`, []string{
			`task.kind != "atomic": task.kind != "atomic" is always true: task.kind is "safe" or "both" here`}},
		{`task.kind in ["safe", "both", "atomic", "preemptible"] ? throw("x") : continue()`, []string{
			`"preemptible": task.kind == "preemptible" is always true: task.kind is "preemptible" after the elements before it`}},
		{`task.kind in ["safe", "safe"] ? throw("x") : continue()`, []string{`"safe": the list has "safe" already`}},
		{`task.name == "a" or task.name != "a" ? throw("x") : continue()`, []string{
			`task.name != "a": task.name != "a" is always true: task.name is anything but "a" here`}},
		{`let a = task.name == "a"; let b = task.name == "b"; a and b ? throw("x") : switch()`, []string{
			`b: b is always false`, `throw("x"): throw("x") is never reached`}},
		{`let a = queue.length >= 0; a and a ? throw("x") : continue()`, []string{"queue.length >= 0: queue.length >= 0 is always true"}},
		{`queue.length > 5 and queue.length > 3 ? throw("x") : continue()`, []string{"queue.length > 3: queue.length > 3 is always true: queue.length is 6 or more here"}},
		{`queue.length in 1..5 ? throw("x") : queue.length in 2..3 ? switch() : continue()`, []string{"switch(): switch() is never reached: an earlier choice"}},
		{`loop.utilization > 1.5 ? throw("x") : switch()`, []string{
			"loop.utilization > 1.5: loop.utilization > 1.5 is always false: loop.utilization is 0 to 1 here", `throw("x"): throw("x") is never reached`}},
		{`state.f == state.f ? throw("x") : switch()`, nil}, // NaN
		{`state.i == state.i ? throw("x") : switch()`, []string{
			"state.i == state.i: state.i == state.i is always true: both sides are the same", "switch(): switch() is never reached"}},
		{`task.name != task.name ? throw("x") : switch()`, []string{"task.name != task.name: task.name != task.name is always false", `throw("x"): throw("x")`}},
		{`loop.utilization >= loop.utilization ? throw("x") : switch()`, []string{"loop.utilization >= loop.utilization: ", "switch(): switch() is never reached"}},
		{`let x = 3; let y = queue.length; let z = y + 1; let ok = take("bucket", 1); switch()`, []string{"x: nothing uses x", "z: nothing uses z"}},
		{`let x = 3; let y = x > queue.length; y ? throw("x") : switch()`, nil},
		{`set("i", (let x = 1; 3))`, []string{"x: nothing uses x"}},
		{`true ? throw("x") : switch()`, []string{"switch(): switch() is never reached"}},
		{`any(task.stack, queue.length >= 0) ? throw("x") : continue()`, []string{"queue.length >= 0: "}},
		{`task.running > duration("10us") ? set("i", 1) : continue()`, []string{
			`task.running > duration("10us"): the policy is evaluated every 1ms: it notices 10µs up to 1ms late`}},
		{`let r = task.running; duration("10us") <= r or queue.length > 3 ? throw("x") : continue()`, []string{`duration("10us") <= r: the policy is evaluated every 1ms`}},
		{`task.running > duration("10us") ? throw("x") : continue()`, nil}, // it is evaluated at its horizon
		{`task.running > duration("1ms") ? throw("x") : continue()`, nil},
		{`runtime.sched_latency > duration("10us") ? throw("x") : continue()`, nil},
		{`task.running > duration("0s") ? throw("x") : continue()`, nil},
	} {
		v, err := verify(t, test.text, Limits{Interval: time.Millisecond})
		if err != nil {
			t.Errorf("%s\nrefused: %v", test.text, err)
			continue
		}
		var got []string
		for _, w := range v.Warnings() {
			if !strings.Contains(w.Reason, "nothing in the policy is about a task") { // TestSlips
				got = append(got, w.Text[w.Pos:w.End]+": "+w.Reason)
			}
		}
		ok := len(got) == len(test.want)
		for i := range min(len(got), len(test.want)) {
			ok = ok && strings.HasPrefix(got[i], test.want[i])
		}
		if !ok {
			t.Errorf("%s\ngot  %q\nwant %q", test.text, got, test.want)
		}
	}
}

func TestCost(t *testing.T) {
	text := `queue.length > 0 and any(1..200, # > queue.length) ? throw("x") : continue()`
	_, err := verify(t, text, Limits{})
	var pe *ir.Error
	if !errors.As(err, &pe) {
		t.Fatalf("got %v", err)
	}
	if got := text[pe.Pos:pe.End]; got != "any(1..200, # > queue.length)" {
		t.Errorf("the error is about %q", got)
	}
	v, err := verify(t, text, Limits{Cost: 5000})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{fmt.Sprintf("%d steps, and 1000 are allowed", v.Cost()), "make the range shorter"} {
		if !strings.Contains(pe.Error(), want) {
			t.Errorf("%v\ndoes not contain %q", pe, want)
		}
	}
	if _, err := verify(t, text, Limits{Cost: v.Cost()}); err != nil {
		t.Errorf("its own cost is too much: %v", err)
	}
	if _, err := verify(t, text, Limits{Cost: v.Cost() - 1}); err == nil {
		t.Error("one step less is enough")
	}
}

// An error prints on one line, and as the whole story.
func TestErrorFormat(t *testing.T) {
	_, err := verify(t, `queue.length > 1 and 5 / (queue.length - 2) > 1 ? throw("x") : continue()`, Limits{})
	if got, want := fmt.Sprintf("%v", err), "policy.expr:1:22: division by zero: (queue.length - 2) may be 0 here; guard it: (queue.length - 2) != 0 ? ... : ..."; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := fmt.Sprintf("%+v", err); !strings.Contains(got, "\n    |                      ^^^") {
		t.Errorf("the place is not marked:\n%s", got)
	}
}

// A share of 0 turns a rule off, and a share of 1 turns it on. chance() and take() compare numbers
// that have no text, so no message gives their values.
func TestShares(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`chance(0.0) ? throw("x") : continue()`, `[chance(0.0) is always false throw("x") is never reached]`},
		{`chance(0) and queue.length > 3 ? throw("x") : continue()`, `[chance(0) is always false throw("x") is never reached]`},
		{`chance(1) ? continue() : throw("x")`, `[chance(1) is always true throw("x") is never reached]`},
		{`chance(0.5) and queue.length < 0 ? throw("x") : continue()`, "refused"},
		{`chance(0.5) ? throw("x") : continue()`, "[]"},
	} {
		v, err := verify(t, test.text, Limits{})
		got := fmt.Sprint(warned(v))
		if err != nil {
			got = "refused"
		}
		if got != test.want {
			t.Errorf("%s\ngot  %s %v\nwant %s", test.text, got, err, test.want)
		}
	}
}

func warned(v Verified) (texts []string) {
	for _, w := range v.Warnings() {
		texts = append(texts, w.Reason)
	}
	return texts
}
