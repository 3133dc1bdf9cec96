package cookbook

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policytest"
)

// script is a file of tests that a reference writes while it decides: each event, and the decision
// of the reference. Package policytest then asks the policy.
type script struct{ events []event }

type event struct {
	at   time.Duration
	text string
}

// tell adds an event: when, the notification, values of stubs, and the expected decision.
func (s *script) tell(at time.Duration, on, given, expect string) {
	s.events = append(s.events, event{at, fmt.Sprintf("      - {at: %v, on: %s, given: {%s}, expect: %s}\n", at, on, given, expect)})
}

// verdict is the expected verdict where a task is refused for a reason, or not.
func verdict(refused bool, reason string) string {
	if refused {
		return fmt.Sprintf("throw(%q)", reason)
	}
	return "continue()"
}

// run asks the policies of a document, in the order of time.
func (s *script) run(t *testing.T, document string) {
	t.Helper()
	path, err := filepath.Abs(document)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "version: 1\ndocuments: [%q]\ntests:\n  - name: it\n    events:\n", path)
	slices.SortStableFunc(s.events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	for _, e := range s.events {
		text.WriteString(e.text)
	}
	file := filepath.Join(t.TempDir(), "reference_test.yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	report, err := policytest.File(file, policytest.Options{})
	if err != nil {
		t.Fatalf("%+v", err)
	}
	for i, f := range report.Results[0].Failures {
		if i == 3 {
			t.Errorf("and %d more of %d", len(report.Results[0].Failures)-i, len(s.events))
			break
		}
		t.Errorf("%s", f)
	}
}
