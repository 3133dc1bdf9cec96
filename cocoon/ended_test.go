package cocoon

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// The counters of a policy stay when it cancels itself, is cancelled, or leaves its document.
func TestEndedPoliciesKeepTheirCounters(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	run := func(priority int32) { _ = rt.Run(WithPriority(background, priority), "a", idle) }
	ended := func(name string) PolicyStats {
		t.Helper()
		eventually(t, name+" ends", func() bool { return rt.Policy(name) == nil })
		st := rt.Stats()
		if _, inForce := st.Policies[name]; inForce {
			t.Errorf("%s is in force", name)
		}
		return st.Ended[name]
	}
	once := Policy{Name: "once", On: OnEnqueue, Expr: `arriving.priority < 0 ? throw("once") : (cancel(); continue())`}
	register(t, rt, once)
	run(-1)
	run(1)
	if st := ended("once"); st.Refusals != 1 || st.Evaluations != 2 || st.Effects != 1 || !st.Off {
		t.Errorf("got %+v", st)
	}
	r := register(t, rt, once)
	if _, still := rt.Stats().Ended["once"]; !still || r.Stats().Evaluations != 0 {
		t.Error("a new policy of the name begins with the counters of the old, or without them in Ended")
	}
	run(-1)
	r.Cancel()
	if st := ended("once"); st.Refusals != 2 || st.Evaluations != 3 {
		t.Errorf("got %+v", st)
	}

	file := filepath.Join(t.TempDir(), "policies.yaml")
	load := func(policies string) {
		t.Helper()
		must(t, os.WriteFile(file, []byte("version: 1\npolicies: ["+policies+"]\n"), 0o600))
		must(t, rt.LoadPolicyFile(file))
	}
	load(`{name: of-file, on: enqueue, expr: 'throw("no")'}`)
	run(0)
	load(`{name: of-file, on: enqueue, expr: 'throw("never")'}`)
	if st := rt.Stats(); st.Policies["of-file"].Refusals != 1 || len(st.Ended) != 1 {
		t.Errorf("a changed policy does not keep its counters: %+v", st.Ended)
	}
	load("")
	if st := ended("of-file"); st.Refusals != 1 {
		t.Errorf("got %+v", st)
	}
}

// The number of ended policies is bounded, and the sum of the counters stays.
func TestEndedPoliciesAreBounded(t *testing.T) {
	var e endedPolicies
	for i := range int64(1000) {
		e.add(fmt.Sprintf("p%d", i%500), PolicyStats{Throws: 1, Errors: i, LastError: fmt.Sprint(i)})
	}
	sum := PolicyStats{}
	for st := range maps.Values(e.stats) {
		sum = sum.Plus(st)
	}
	if len(e.stats) != maxEnded+1 || len(e.names) != maxEnded || sum.Throws != 1000 || sum.Errors != 999*500 {
		t.Errorf("%d policies, %d names, %+v", len(e.stats), len(e.names), sum)
	}
	if e.stats["p499"].LastError != "999" {
		t.Errorf("the last is not kept: %+v", e.stats["p499"])
	}
}

// plus adds every counter.
func TestPlusAddsAllCounters(t *testing.T) {
	var one PolicyStats
	v := reflect.ValueOf(&one).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Int64 && v.Type().Field(i).Name != "Interval" {
			f.SetInt(1)
		}
	}
	sum := reflect.ValueOf(one.Plus(one))
	for i := range sum.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Int64 && f.Int() == 1 && sum.Field(i).Int() != 2 {
			t.Errorf("%s is %v", v.Type().Field(i).Name, sum.Field(i))
		}
	}
}
