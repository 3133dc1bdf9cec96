package analyzer

import (
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// What we ship passes without a warning, and cheaply.
func TestReadyMade(t *testing.T) {
	specs := []policy.Spec{
		policy.DefaultPreemption(policy.On(stubs.Enqueue)), policy.DefaultPreemption(policy.Every(time.Millisecond)), policy.CallerGone(),
		policy.FirstInFirstOut(), policy.StrictPriority(), policy.EarliestDeadline(), policy.ShortestRemaining(), policy.FairShare(), policy.Background("backup"),
	}
	add := func(s policy.Spec, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		specs = append(specs, s)
	}
	add(policy.RoundRobin(time.Millisecond))
	add(policy.AdaptiveQuantum(time.Millisecond, 10*time.Millisecond))
	for _, limit := range []time.Duration{50 * time.Microsecond, 100 * time.Millisecond, time.Hour} {
		add(policy.TimeLimit{Func: "regex.match", Limit: limit}.Spec())
	}
	for _, alarm := range []policy.OverloadAlarm{{Queue: 10, State: "o"}, {Wait: time.Second, State: "o"}, {Queue: 10, Wait: time.Second, Func: "Trace"}} {
		add(alarm.Spec())
	}
	for _, s := range specs {
		p, err := s.Parse(map[string]policy.State{"o": {Type: stubs.Bool}}, map[string]bool{"Trace": true})
		if err != nil {
			t.Fatal(err)
		}
		v, err := Verify(p, Limits{Cost: 100, Interval: s.On.Interval})
		if err != nil || len(v.Warnings()) > 0 {
			t.Errorf("%s: %v %v", s.Expr, err, v.Warnings())
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	p, err := lang.Parse(`let busy = loop.busy >= loop.slots; task.kind in ["preemptible", "both"] and busy and
		task.elapsed > duration("0s") and task.running / task.elapsed > 0.5 ? switch() : continue()`, lang.Env{On: stubs.Tick})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Verify(p, Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

// Which of what we ship waits for time, and for what.
func TestWaysOfReadyMade(t *testing.T) {
	limit, err := policy.TimeLimit{Func: "report", Limit: time.Second}.Spec()
	if err != nil {
		t.Fatal(err)
	}
	turns, err := policy.RoundRobin(time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spec policy.Spec
		want string
	}{
		{limit, "task.sections.report>=1.000000001s; task.running>=1.000000001s and task.name [report]"},
		{turns, "task.slice>=1ms and task.kind [both]"},
		{policy.DefaultPreemption(policy.Every(time.Millisecond)), "task.kind [preemptible]; task.kind [both]"},
		{policy.CallerGone(), "any time"},
	} {
		if got := text(waysOf(t, c.spec.Expr)); got != c.want {
			t.Errorf("%s\nways: %s\nwant: %s", c.spec.Expr, got, c.want)
		}
	}
}
