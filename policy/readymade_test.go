package policy

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/ir/irtest"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

func mustParse(t *testing.T, s Spec, err error, states map[string]State, funcs map[string]bool) *ir.Program {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Parse(states, funcs)
	if err != nil {
		t.Fatalf("%s: %+v", s.Expr, err)
	}
	return p
}

func TestTimeLimit(t *testing.T) {
	for _, name := range []string{"regex.match", `a"b\c`, "GET /users/{id}", "日本", "a'b`c", strings.Repeat("x", 1000), "\u0085\U000e0001"} {
		s, err := TimeLimit{Func: name, Limit: 100 * time.Millisecond}.Spec()
		p := mustParse(t, s, err, nil, nil)
		section := fmt.Sprintf("task.sections[%q]", name)
		for _, c := range []struct {
			values map[string]any
			want   stubs.Decision
		}{
			{map[string]any{section: 100 * time.Millisecond}, stubs.Continue},
			{map[string]any{section: 101 * time.Millisecond}, stubs.Throw},
			{map[string]any{"task.name": name, "task.running": time.Second}, stubs.Throw},
			{map[string]any{"task.name": name + "x", "task.running": time.Second}, stubs.Continue},
		} {
			if got := irtest.Evaluate(t, p, c.values); got.Decision != c.want {
				t.Errorf("%q %v: %v, want %v", name, c.values, got.Decision, c.want)
			}
		}
	}
}

func TestTimeLimitDefaults(t *testing.T) {
	for limit, want := range map[time.Duration]time.Duration{
		lang.MinInterval: 50 * time.Microsecond, time.Millisecond: 50 * time.Microsecond, 100 * time.Millisecond: time.Millisecond,
		time.Hour: 10 * time.Millisecond, math.MaxInt64: 10 * time.Millisecond,
	} {
		s, err := TimeLimit{Func: "f", Limit: limit}.Spec()
		if err != nil || s.On.Interval != want {
			t.Errorf("limit %v: interval %v, %v; want %v", limit, s.On.Interval, err, want)
		}
	}
	s, err := TimeLimit{Func: "f", Limit: time.Second, Interval: time.Millisecond, Reason: `too "long"`}.Spec()
	p := mustParse(t, s, err, nil, nil)
	if s.On.Interval != time.Millisecond || p.Reasons[0] != `too "long"` || s.Name != "time-limit/f" {
		t.Errorf("%+v, reasons %q", s, p.Reasons)
	}
}

func TestNamesOfLimitsDiffer(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"a b", "a-b", "a/b", "a?b", strings.Repeat("x", 500), strings.Repeat("x", 501)} {
		s, err := TimeLimit{Func: name, Limit: time.Second}.Spec()
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[s.Name]; ok {
			t.Errorf("%q and %q are both called %s", name, other, s.Name)
		}
		seen[s.Name] = name
	}
}

func TestReadymadeRefuses(t *testing.T) {
	limit := func(l TimeLimit) error { _, err := l.Spec(); return err }
	alarm := func(a OverloadAlarm) error { _, err := a.Spec(); return err }
	_, short := RoundRobin(time.Microsecond)
	_, zero := RoundRobin(0)
	for want, err := range map[string]error{
		"time limit: the name of the section or task is empty":          limit(TimeLimit{Limit: 1}),
		"time limit: the limit of \"f\" is 0s; want 5µs or more":        limit(TimeLimit{Func: "f"}),
		"the limit of \"f\" is -1s":                                     limit(TimeLimit{Func: "f", Limit: -time.Second}),
		"not printable text":                                            limit(TimeLimit{Func: "a\x00b", Limit: 1}),
		`"\xff" is not printable text`:                                  limit(TimeLimit{Func: "\xff", Limit: 1}),
		"2000 bytes, and 1024":                                          limit(TimeLimit{Func: strings.Repeat("x", 2000), Limit: 1}),
		"the interval 1ns is not between":                               limit(TimeLimit{Func: "f", Limit: 1e9, Interval: 1}),
		"the reason has 300 bytes, and 256":                             limit(TimeLimit{Func: "f", Limit: 1e9, Reason: strings.Repeat("x", 300)}),
		"the reason \"a\\nb\" is not printable text":                    limit(TimeLimit{Func: "f", Limit: 1e9, Reason: "a\nb"}),
		"the quantum 1µs is shorter than 100µs":                         short,
		"the quantum 0s is shorter":                                     zero,
		"overload alarm: no bound is set; set Queue, Wait or both":      alarm(OverloadAlarm{State: "s"}),
		"overload alarm: the queue length -1 is negative":               alarm(OverloadAlarm{Queue: -1}),
		"the wait -1ns is negative":                                     alarm(OverloadAlarm{Wait: -1}),
		"would have no effect":                                          alarm(OverloadAlarm{Queue: 1}),
		`state "a b": a name`:                                           alarm(OverloadAlarm{Queue: 1, State: "a b"}),
		"the function's name \"\\n\" is not printable text":             alarm(OverloadAlarm{Queue: 1, Func: "\n"}),
		"policy \"overload-alarm/s\": the interval 1ns is not between ": alarm(OverloadAlarm{Queue: 1, State: "s", Interval: 1}),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func TestDefaultPreemption(t *testing.T) {
	if got := DefaultPreemption(On(stubs.Enqueue)).On.Events; got != stubs.Enqueue|stubs.Start {
		t.Errorf("events %v", got)
	}
	s := DefaultPreemption(Every(time.Millisecond))
	if s.On != Every(time.Millisecond) {
		t.Errorf("trigger %+v", s.On)
	}
	p := mustParse(t, s, nil, nil, nil)
	if p.ForEach() != stubs.Tick {
		t.Error("not evaluated for each task")
	}
	for kind, want := range map[string]stubs.Decision{"atomic": stubs.Continue, "preemptible": stubs.Switch, "safe": stubs.Continue, "both": stubs.Switch} {
		if got := irtest.Evaluate(t, p, map[string]any{"task.kind": kind, "queue.safe": 1}); got.Decision != want {
			t.Errorf("%s: %v, want %v", kind, got.Decision, want)
		}
		if got := irtest.Evaluate(t, p, map[string]any{"task.kind": kind}); got.Decision != stubs.Continue {
			t.Errorf("%s, nobody waits: %v", kind, got.Decision)
		}
	}
}

func TestRoundRobin(t *testing.T) {
	s, err := RoundRobin(10 * time.Millisecond)
	p := mustParse(t, s, err, nil, nil)
	for _, c := range []struct {
		values map[string]any
		want   stubs.Decision
	}{
		{map[string]any{"task.kind": "both", "task.slice": 10 * time.Millisecond, "queue.safe": 1}, stubs.Switch},
		{map[string]any{"task.kind": "both", "task.slice": 10 * time.Millisecond, "queue.suspended": 1}, stubs.Switch},
		{map[string]any{"task.kind": "both", "task.slice": 10 * time.Millisecond}, stubs.Continue},
		{map[string]any{"task.kind": "both", "task.slice": 9 * time.Millisecond, "queue.safe": 1}, stubs.Continue},
		{map[string]any{"task.kind": "preemptible", "task.slice": time.Second, "queue.safe": 1}, stubs.Continue},
	} {
		if got := irtest.Evaluate(t, p, c.values); got.Decision != c.want {
			t.Errorf("%v: %v, want %v", c.values, got.Decision, c.want)
		}
	}
}

func TestAdaptiveQuantum(t *testing.T) {
	s, err := AdaptiveQuantum(time.Millisecond, 20*time.Millisecond)
	p := mustParse(t, s, err, nil, nil)
	if s.On.Interval != time.Second || s.On.Events != stubs.Enqueue { // silent, until somebody comes
		t.Errorf("trigger %+v", s.On)
	}
	for _, c := range []struct {
		kind            string
		safe, suspended int
		slice, interval time.Duration
		want            stubs.Decision
	}{
		{"both", 0, 0, time.Hour, time.Second, stubs.Continue},
		{"both", 1, 0, time.Millisecond, 250 * time.Microsecond, stubs.Switch},
		{"both", 1, 3, time.Millisecond, 250 * time.Microsecond, stubs.Switch},
		{"both", 1, 0, time.Millisecond - 1, 250 * time.Microsecond, stubs.Continue},
		{"both", 0, 1, 19 * time.Millisecond, 2 * time.Millisecond, stubs.Continue},
		{"both", 0, 1, 20 * time.Millisecond, 2 * time.Millisecond, stubs.Switch},
		{"preemptible", 1, 1, time.Hour, 250 * time.Microsecond, stubs.Continue},
	} {
		out := irtest.Evaluate(t, p, map[string]any{"task.kind": c.kind, "queue.safe": c.safe, "queue.suspended": c.suspended, "task.slice": c.slice})
		if out.Decision != c.want {
			t.Errorf("%+v: %v", c, out.Decision)
		}
		for i := range p.Sites {
			if out.Fired>>i&1 != 0 && time.Duration(out.Values[i]) != c.interval {
				t.Errorf("%+v: the interval is %v", c, time.Duration(out.Values[i]))
			}
		}
	}
	for want, q := range map[string][2]time.Duration{
		"the quantum 1µs is shorter than 100µs":             {time.Microsecond, time.Second},
		"the long quantum 1ms is not between 1ms and 1s":    {time.Millisecond, time.Millisecond},
		"the long quantum 1m0s is not between 100µs and 1s": {100 * time.Microsecond, time.Minute},
	} {
		if _, err := AdaptiveQuantum(q[0], q[1]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func TestCallerGone(t *testing.T) {
	p := mustParse(t, CallerGone(), nil, nil, nil)
	if got := irtest.Evaluate(t, p, map[string]any{"task.cancelled": true}); got.Decision != stubs.Throw || p.Reasons[got.Reason] != "the caller is gone" {
		t.Errorf("%+v", got)
	}
	if got := irtest.Evaluate(t, p, map[string]any{"task.cancelled": false}); got.Decision != stubs.Continue {
		t.Errorf("%+v", got)
	}
}

func TestOverloadAlarm(t *testing.T) {
	s, err := OverloadAlarm{Queue: 10, Wait: time.Second, State: "over", Func: "Page"}.Spec()
	p := mustParse(t, s, err, map[string]State{"over": {Type: stubs.Bool}}, map[string]bool{"Page": true})
	if p.ForEach() != 0 {
		t.Error("evaluated for each task, not for each loop")
	}
	for _, c := range []struct {
		queue int
		wait  time.Duration
		was   bool
		fired string
	}{
		{11, 0, false, "set over=1 call Page "},
		{0, 2 * time.Second, false, "set over=1 call Page "},
		{11, 0, true, ""},
		{10, time.Second, true, "set over=0 "},
		{10, time.Second, false, ""},
	} {
		out := irtest.Evaluate(t, p, map[string]any{"queue.length": c.queue, "queue.oldest": c.wait, "state.over": c.was})
		var fired strings.Builder
		for i, site := range p.Sites {
			switch {
			case out.Fired&(1<<i) == 0:
			case site.Effect == stubs.Set:
				fmt.Fprintf(&fired, "set %s=%d ", site.Name, out.Values[i])
			default:
				fmt.Fprintf(&fired, "%v %s ", site.Effect, site.Name)
			}
		}
		if fired.String() != c.fired || out.Decision != stubs.Continue {
			t.Errorf("%+v: %q %v, want %q", c, fired.String(), out.Decision, c.fired)
		}
	}
	private, err := OverloadAlarm{Wait: time.Second, Func: `P"g`}.Spec()
	mustParse(t, private, err, nil, map[string]bool{`P"g`: true})
	if private.State["overloaded"] != false {
		t.Errorf("private state %v", private.State)
	}
}
