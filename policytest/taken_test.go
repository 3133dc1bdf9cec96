package policytest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/ir"
)

// What a policy takes of texts, and its draws, are those of a server with the seed of the tests.
func TestTexts(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("p.yaml", `version: 1
policies:
  - name: canary
    on: start
    expr: 'hash(task.labels.user) % 100 < 5 and int(task.labels.level, 3) > 2 ? throw("canary") : continue()'
  - name: draw
    on: enqueue
    expr: 'chance(0.25) ? throw("unlucky") : continue()'
`)
	tests := `version: 1
documents: [p.yaml]
seed: 7
tests:
  - name: texts
    events:
      - {at: 0s, on: start, given: {task.labels: {user: u82}}, expect: throw("canary")}
      - {at: 0s, on: start, given: {task.labels: {user: u82, level: "2"}}, expect: continue()}
      - {at: 0s, on: start, given: {task.labels: {user: other}}, expect: continue()}
      - {at: 0s, on: enqueue, times: 1000, expect: {counts: {throw("unlucky"): 232}}}
`
	user := "u0"
	for i := 0; ir.Mix(0, ir.Hash(user))%100 >= 5; i++ {
		user = fmt.Sprint("u", i)
	}
	tests = strings.ReplaceAll(tests, "u82", user)
	write("a_test.yaml", tests)
	write("b_test.yaml", strings.ReplaceAll(tests, "seed: 7", "seed: 8"))
	for name, want := range map[string]string{"a_test.yaml": "", "b_test.yaml": `throw("unlucky") is said 258 times; want 232`} {
		r, err := File(filepath.Join(dir, name), Options{})
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		for _, f := range r.Results[0].Failures {
			said += f.String() + "\n"
		}
		if !strings.Contains(said, want) || want == "" && said != "" {
			t.Errorf("%s says %s\nwant %q", name, said, want)
		}
	}
}

// A failure shows the text that a policy hashes, and no number: the policy sees the hash of the
// text and of the salts.
func TestFailureShowsHashedText(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"p.yaml": `version: 1
policies: [{name: p, on: enqueue, expr: 'hash(arriving.labels.user, "s1") > hash(arriving.labels.user, "s2") ? continue() : throw("x")'}]
`,
		"p_test.yaml": `version: 1
documents: [p.yaml]
tests: [{name: t, events: [{at: 0s, on: enqueue, given: {arriving.labels: {user: u9}}, expect: throw("never")}]}]
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := File(filepath.Join(dir, "p_test.yaml"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	said := fmt.Sprint(r.Results[0].Failures)
	if !strings.Contains(said, `arriving.labels["user"] = "u9"`) || strings.Contains(said, "hash(") {
		t.Errorf("it says %s", said)
	}
}

// The window of a rate begins with the test, in which the policies are in force from 0s on.
func TestRatesBeginWithTheTest(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"p.yaml": `version: 1
states: {failures: 0}
policies:
  - {name: count, event: failure, expr: 'add("failures", 1)'}
  - {name: breaker, on: enqueue, expr: 'rate("failures", duration("1m")) * 60 >= 5 ? throw("failing") : continue()'}
`, "p_test.yaml": `version: 1
documents: [p.yaml]
tests:
  - name: five failures within a minute open the breaker, and one does not
    events:
      - {at: 10m, event: failure}
      - {at: 10m, on: enqueue, expect: continue()}
      - {at: 10m, event: failure, times: 5}
      - {at: 10m, on: enqueue, expect: throw("failing")}
      - {at: 12m, on: enqueue, expect: continue()}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	Run(t, filepath.Join(dir, "p_test.yaml"))
}
