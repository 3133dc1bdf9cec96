package cocoon_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cocoon-go/cocoon/cocoon"
)

// Policies keep their order when a document is loaded again, when a policy is updated, and on a
// loop that is made later: the first policy that refuses a task is the same.
func TestOrderOfPolicies(t *testing.T) {
	rt, err := cocoon.New(cocoon.Config{Slots: 1, QuietThrows: true})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Shutdown(context.Background())
	dir := t.TempDir()
	refuse := func(name, more string) string {
		return fmt.Sprintf("  - {name: %s, on: enqueue, expr: 'queue.length >= 0 and runtime.tasks > 0 ? throw(\"%[1]s%s\") : continue()'}\n", name, more)
	}
	load := func(file, policies string) {
		t.Helper()
		path := filepath.Join(dir, file)
		if err := os.WriteFile(path, []byte("version: 1\npolicies:\n"+policies), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := rt.LoadPolicyFile(path); err != nil {
			t.Fatal(err)
		}
	}
	first := func(step, want string) {
		t.Helper()
		late, err := rt.NewLoop(cocoon.LoopConfig{Name: step, Slots: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range []*cocoon.Loop{rt.Loop(), late} {
			err := l.Run(context.Background(), "a", func(context.Context) error { return nil })
			var refused *cocoon.PreemptedError
			if !errors.As(err, &refused) || refused.Reason != want {
				t.Errorf("%s, on the loop %s: %v; want a refusal by %s", step, l.Name(), err, want)
			}
		}
	}
	load("one.yaml", refuse("m", ""))
	code, err := rt.RegisterPolicy(cocoon.Policy{Name: "c", On: cocoon.OnEnqueue, Expr: `runtime.tasks > 0 ? throw("c") : continue()`})
	if err != nil {
		t.Fatal(err)
	}
	load("two.yaml", refuse("b", "")+refuse("a", ""))
	first("loaded", "m")
	load("one.yaml", refuse("m", "")+"# a comment\n")
	first("commented", "m")
	load("one.yaml", refuse("m", " changed"))
	first("changed", "m changed")
	load("one.yaml", refuse("z", "")+refuse("m", ""))
	first("added in front", "z")
	load("one.yaml", refuse("n", ""))
	first("replaced", "n")
	if err := code.Update(cocoon.Policy{On: cocoon.OnEnqueue, Expr: `runtime.tasks > 0 ? throw("c updated") : continue()`}); err != nil {
		t.Fatal(err)
	}
	first("updated behind", "n")
	load("one.yaml", "  - {name: s, on: start, expr: 'task.waited > duration(\"1h\") ? throw(\"s\") : continue()'}\n")
	first("none left", "c updated")
	code.Cancel()
	first("cancelled", "b")
}
