package cocoon

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/policytest"
)

// From one seed a server and a test of a policy draw the same, on each loop: a seed of Stats can be
// written into a test.
func TestSeedOfTests(t *testing.T) {
	const document = `version: 1
policies:
  - name: shed
    on: enqueue
    expr: 'chance(0.3) ? throw("first") : chance(0.5) ? throw("second") : continue()'
`
	for _, seed := range []uint64{1, 77, math.MaxUint64} {
		rt := start(t, Config{Slots: 1, Seed: seed})
		must(t, rt.LoadPolicies(strings.NewReader(document)))
		jobs, err := rt.NewLoop(LoopConfig{Name: "jobs"})
		must(t, err)
		var tests strings.Builder
		fmt.Fprintf(&tests, "version: 1\ndocuments: [p.yaml]\nseed: %d\ntests:\n  - name: it\n    events:\n", rt.Stats().Seed)
		for i := range 300 {
			l, given := rt.Loop(), ""
			if i%3 == 0 && i >= 100 {
				l = jobs
			}
			if i >= 100 {
				given = "loop.name: " + l.Name() // before, the test names no loop
			}
			verdict := "continue()"
			if err := l.Run(background, "job", idle); err != nil {
				verdict = fmt.Sprintf("throw(%q)", preemption(t, err).Reason)
			}
			fmt.Fprintf(&tests, "      - {at: 0s, on: enqueue, given: {%s}, expect: %s}\n", given, verdict)
		}
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "p.yaml"), []byte(document), 0o600))
		must(t, os.WriteFile(filepath.Join(dir, "p_test.yaml"), []byte(tests.String()), 0o600))
		policytest.Run(t, filepath.Join(dir, "p_test.yaml"))
	}
}
