package cocoon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The error of an evaluation says where it happened: in the document as it was loaded last, or in
// the expression of code.
func TestLastError(t *testing.T) {
	var log journal
	rt := start(t, Config{Slots: 1, MaxFailures: 100, Logger: log.logger()})
	must(t, rt.RegisterState(map[string]any{"n": int64(1<<63 - 1), "f": 1.0}))
	name := filepath.Join(t.TempDir(), "policies.yaml")
	document := `version: 1
policies:
  - name: adds
    event: go
    expr: |
      event.value > 0
        ? set("n", state.n + 1)
        : add("n", 2)
`
	load := func(text string) {
		t.Helper()
		must(t, os.WriteFile(name, []byte(text), 0o600))
		must(t, rt.LoadPolicyFile(name))
	}
	failed := func(policy string, value float64, want string) {
		t.Helper()
		rt.Notify("go", value)
		if got := rt.Stats().Policies[policy].LastError; got != want {
			t.Errorf("%s: got %q; want %q", policy, got, want)
		}
	}
	load(document)
	failed("adds", 1, name+`:7:20: policy "adds": integer overflow`)
	failed("adds", 0, name+`:8:11: policy "adds": integer overflow`)
	eventually(t, "the log line", func() bool { return log.count(`policies.yaml:7:20: policy`) == 1 })
	load(strings.Replace(document, "policies:", "# one line more\npolicies:", 1))
	failed("adds", 1, name+`:8:20: policy "adds": integer overflow`)
	must(t, rt.LoadPolicies(strings.NewReader("version: 1\npolicies:\n  - {name: sets, event: go, expr: 'set(\"f\", event.value * 1e308 * 10.0 - event.value * 1e308 * 10.0)'}\n")))
	failed("sets", 1, `document:3:36: policy "sets": not a number (NaN) as the value of a state`)
	r := register(t, rt, Policy{Name: "code", On: OnNotify("go"), Expr: "let a = 1;\n  add(\"n\", a)"})
	failed("code", 1, "policy.expr:2:3: integer overflow")
	must(t, rt.Policy("adds").Update(Policy{On: OnNotify("go"), Expr: `add("n", 1)`}))
	failed("adds", 1, "policy.expr:1:1: integer overflow")
	r.Cancel()
}
