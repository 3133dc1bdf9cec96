package cookbook

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policytest"
)

// script is a file of tests that a reference writes while it decides: each event, and what the
// reference says to it. Package policytest then asks the policy.
type script struct {
	events strings.Builder
	count  int
}

// tell adds an event at a time, on a notification, with values of stubs and what is expected.
func (s *script) tell(at time.Duration, on, given, expect string) {
	fmt.Fprintf(&s.events, "      - {at: %v, on: %s, given: {%s}, expect: %s}\n", at, on, given, expect)
	s.count++
}

// verdict is what is expected where a task is refused for a reason, or not.
func verdict(refused bool, reason string) string {
	if refused {
		return fmt.Sprintf("throw(%q)", reason)
	}
	return "continue()"
}

// run asks the policies of a document.
func (s *script) run(t *testing.T, document string) {
	t.Helper()
	path, err := filepath.Abs(document)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("version: 1\ndocuments: [%q]\ntests:\n  - name: it\n    events:\n%s", path, s.events.String())
	file := filepath.Join(t.TempDir(), "reference_test.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	report, err := policytest.File(file, policytest.Options{})
	if err != nil {
		t.Fatalf("%+v", err)
	}
	for i, f := range report.Results[0].Failures {
		if i == 3 {
			t.Errorf("and %d more of %d", len(report.Results[0].Failures)-i, s.count)
			break
		}
		t.Errorf("%s", f)
	}
}
