package cocoonprom

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/metrics"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// The metrics follow the conventions that promtool check metrics knows.
func TestConventions(t *testing.T) {
	rt := started(t, cocoon.Config{Slots: 1})
	problems, err := testutil.GatherAndLint(registered(t, rt))
	tasktest.Must(t, err)
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// A busy runtime with policies, states and tenants has values for all metrics; they are the values
// of Stats.
func TestAllMetricsHaveValues(t *testing.T) {
	rt := started(t, cocoon.Config{Slots: 1})
	stop := load(t, rt)
	tasktest.Eventually(t, "decisions of all policies, and evictions", func() bool {
		st := rt.Stats()
		limit := st.Policies["time-limit/scan"]
		return limit.Throws > 2 && st.Policies["shed"].Refusals > 2 && st.Policies["planned"].WouldThrow > 2 && st.States["seen"].Evicted > 0
	})
	stop()
	st, all := rt.Stats(), gathered(t, registered(t, rt))
	for _, f := range metrics.All {
		if all[f.Prometheus()] == nil {
			t.Errorf("%s has no value", f.Prometheus())
		}
		delete(all, f.Prometheus())
	}
	if len(all) != 0 {
		t.Errorf("metrics of which no list knows: %v", all)
	}
	all = gathered(t, registered(t, rt))
	number := func(name string, labels ...string) float64 {
		m := value(t, all[name], labels...)
		return m.GetCounter().GetValue() + m.GetGauge().GetValue()
	}
	l := st.Loops[0]
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"slots", number("cocoon_loop_slots", "default"), 1},
		{"ended", number("cocoon_loop_tasks_ended_total", "default"), float64(l.Ended)},
		{"refused by policies", number("cocoon_loop_tasks_refused_total", "default", "policy"), float64(l.Refusals.Policy)},
		{"running", number("cocoon_loop_task_time_seconds_total", "default", "running"), l.Account.Running.Seconds()},
		{"throws", number("cocoon_policy_decisions_total", "throw", "time-limit/scan"), float64(st.Policies["time-limit/scan"].Throws)},
		{"dry run", number("cocoon_policy_decisions_observed_total", "throw", "planned"), float64(st.Policies["planned"].WouldThrow)},
		{"mode", number("cocoon_policy_mode", "observe", "planned"), 1},
		{"mode", number("cocoon_policy_mode", "enforce", "planned"), 0},
		{"share", number("cocoon_tenant_share", "default", "gold"), 3},
		{"keys", number("cocoon_state_keys_limit", "seen"), 8},
		{"evicted", number("cocoon_state_keys_evicted_total", "seen"), float64(st.States["seen"].Evicted)},
	} {
		if c.got != c.want || c.want == 0 && c.what != "mode" {
			t.Errorf("%s: %v; want %v", c.what, c.got, c.want)
		}
	}
	if n := len(all["cocoon_tenant_share"].Metric); n != 2 {
		t.Errorf("%d tenants have metrics; want the 2 with shares", n)
	}
}

// A policy that is cancelled keeps its counters, and adds to them when it is registered again.
func TestPolicyRegisteredAgain(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 1})
	registry := registered(t, rt)
	for range 3 {
		r, err := rt.RegisterPolicy(cocoon.Policy{Name: "no", On: cocoon.OnEnqueue, Expr: `throw("not now")`})
		tasktest.Must(t, err)
		rt.Run(context.Background(), "task", func(context.Context) error { return nil })
		r.Cancel()
	}
	_, err := rt.RegisterPolicy(cocoon.Policy{Name: "no", On: cocoon.OnEnqueue, Expr: `throw("not now")`})
	tasktest.Must(t, err)
	rt.Run(context.Background(), "task", func(context.Context) error { return nil })
	m := value(t, gathered(t, registry)["cocoon_policy_decisions_total"], "refuse", "no")
	if got := m.GetCounter().GetValue(); got != 4 {
		t.Errorf("%v refusals; want 4", got)
	}
}

// A registry takes one runtime; each further one needs a label.
func TestTwoRuntimes(t *testing.T) {
	one, two := tasktest.Start(t, cocoon.Config{Slots: 1}), tasktest.Start(t, cocoon.Config{Slots: 2})
	registry := prometheus.NewRegistry()
	tasktest.Must(t, registry.Register(NewCollector(one)))
	for what, rt := range map[string]*cocoon.Runtime{"the same": one, "another": two} {
		var already prometheus.AlreadyRegisteredError
		if err := registry.Register(NewCollector(rt)); !errors.As(err, &already) {
			t.Errorf("%s runtime: got %v", what, err)
		}
	}
	registry = prometheus.NewPedanticRegistry()
	for name, rt := range map[string]*cocoon.Runtime{"one": one, "two": two} {
		prometheus.WrapRegistererWith(prometheus.Labels{"runtime": name}, registry).MustRegister(NewCollector(rt))
	}
	slots := gathered(t, registry)["cocoon_loop_slots"]
	for name, want := range map[string]float64{"one": 1, "two": 2} {
		if got := value(t, slots, "default", name).GetGauge().GetValue(); got != want {
			t.Errorf("runtime %s: %v slots; want %v", name, got, want)
		}
	}
	collector := NewCollector(one)
	registry = prometheus.NewRegistry()
	registry.MustRegister(collector)
	if !registry.Unregister(collector) {
		t.Error("it cannot be unregistered")
	}
	tasktest.Must(t, registry.Register(NewCollector(two)))
	defer func() {
		if r, _ := recover().(string); !strings.Contains(r, "cocoon.New") {
			t.Errorf("NewCollector(nil): %q", r)
		}
	}()
	NewCollector(nil)
}

// Names that are not UTF-8 do not break the scrape.
func TestNamesThatAreNotUTF8(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 1})
	for _, name := range []string{"a\xfe", "a\xff", "\"\n"} {
		_, err := rt.NewLoop(cocoon.LoopConfig{Name: name})
		tasktest.Must(t, err)
	}
	slots := gathered(t, registered(t, rt))["cocoon_loop_slots"]
	for _, name := range []string{`"a\xfe"`, `"a\xff"`, "\"\n"} {
		value(t, slots, name)
	}
}
