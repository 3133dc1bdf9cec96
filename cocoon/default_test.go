package cocoon_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// The functions of the package are the methods of one runtime.
func TestDefaultRuntime(t *testing.T) {
	registered := func(r *cocoon.Registration, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Cancel)
		if _, there := cocoon.Default().Stats().Policies[r.Name()]; !there {
			t.Errorf("%s is not a policy of the default runtime", r.Name())
		}
	}
	registered(cocoon.RegisterPolicy(cocoon.Policy{Name: "mine", On: cocoon.OnStart, Expr: `continue()`}))
	registered(cocoon.Default().RegisterDefaultPreemption(cocoon.OnEnqueue))
	registered(cocoon.Default().RegisterTimeLimit(cocoon.TimeLimit{Func: "default.endless", Limit: time.Millisecond}))
	if err := errors.Join(
		cocoon.RegisterState(map[string]any{"from_go": true}),
		cocoon.Default().LoadPolicies(strings.NewReader("version: 1\nstates: {from_document: 0.5}\n")),
		cocoon.RegisterSafeFunc("default.safe"),
		cocoon.RegisterPreemptibleFunc("default.endless"),
	); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{"from_go": true, "from_document": 0.5, "none": nil} {
		if got := cocoon.State(name); got != want {
			t.Errorf("state %s is %v; want %v", name, got, want)
		}
	}
	ctx := context.Background()
	h := cocoon.Go(ctx, "default.endless", func(ctx context.Context) error {
		for {
			cocoon.SafePoint(ctx)
		}
	})
	var pe *cocoon.PreemptedError
	if err := h.Wait(ctx); !errors.As(err, &pe) || pe.Policy != "time-limit/default.endless" {
		t.Errorf("got %v", err)
	}
	if h.Task().Loop() != cocoon.Default().Loop() || h.Task().Kind() != cocoon.Preemptible {
		t.Errorf("loop %s, kind %v", h.Task().Loop().Name(), h.Task().Kind())
	}
	if err := cocoon.Run(ctx, "default.safe", func(ctx context.Context) error {
		if k := cocoon.TaskOf(ctx).Kind(); k != cocoon.Safe {
			t.Errorf("kind %v", k)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}
