package cocoon

import (
	"context"
	"errors"
	"testing"
)

// TestGates checks that an enqueue policy is evaluated only for tasks with the fixed values that it
// demands, whatever else it reads, and that it decides about these as before.
func TestGates(t *testing.T) {
	for name, c := range map[string]struct {
		expr    string
		passes  []string // names of tasks for which it is not evaluated
		refuses []string
	}{
		"name":     {`arriving.name == "report" and queue.length >= 0 ? throw("no") : continue()`, []string{"get", "put"}, []string{"report"}},
		"names":    {`arriving.name in ["report", "put"] ? throw("no") : continue()`, []string{"get"}, []string{"report", "put"}},
		"pattern":  {`arriving.name in pattern("re*") ? throw("no") : continue()`, []string{"get", "put"}, []string{"report"}},
		"kind":     {`arriving.kind == "safe" ? throw("no") : continue()`, []string{"report", "put"}, []string{"get"}},
		"label":    {`arriving.labels["tenant"] == "a" ? throw("no") : continue()`, []string{"get", "report"}, nil},
		"not":      {`arriving.name != "get" ? throw("no") : continue()`, []string{"get"}, []string{"report", "put"}},
		"nested":   {`arriving.priority > 3 ? throw("yes") : (arriving.name == "put" ? throw("no") : continue())`, []string{"get", "report"}, []string{"put"}},
		"anything": {`queue.length > 5 ? throw("no") : continue()`, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 2, QuietThrows: true})
			must(t, rt.RegisterSafeFunc("get"))
			r := register(t, rt, Policy{Name: "gate", On: OnEnqueue, Expr: c.expr})
			for _, name := range c.passes {
				must(t, rt.Run(background, name, nothing))
			}
			if n := r.Stats().Evaluations; n != 0 {
				t.Errorf("%d evaluations for tasks that it cannot act on", n)
			}
			for _, name := range c.refuses {
				var p *PreemptedError
				if err := rt.Run(background, name, nothing); !errors.As(err, &p) || p.Started {
					t.Errorf("%s: %v; want a refusal", name, err)
				}
			}
			if n := r.Stats().Evaluations; n != int64(len(c.refuses)) {
				t.Errorf("%d evaluations; want one for each refused task, %d", n, len(c.refuses))
			}
			if name == "label" {
				if err := rt.Run(WithLabel(context.Background(), "tenant", "a"), "get", nothing); err == nil {
					t.Error("a task with the label was not refused")
				}
			}
		})
	}
}
