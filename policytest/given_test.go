package policytest

import (
	"strings"
	"testing"
)

// A given label that no policy reads is most likely misspelt.
func TestGivenLabelsAreRead(t *testing.T) {
	const document = `version: 1
tenants: {label: tenant}
policies:
  - {name: p, on: enqueue, expr: 'arriving.labels.tier == "gold" or hash(arriving.labels.user) % 2 == 0 ? continue() : throw("x")'}
`
	for given, want := range map[string]string{
		`arriving.labels: {teir: gold}`:    `p_test.yaml:6:57: no policy reads arriving.labels["teir"]; the policies read arriving.labels["tier"], arriving.labels["user"]`,
		`arriving.labels: {tier: gold}`:    "",
		`task.labels: {tier: gold}`:        "",
		`arriving.labels: {user: x}`:       "",
		`arriving.labels: {tenant: x}`:     "",
		`task.sections: {json.decode: 1s}`: "",
	} {
		tests := "tests:\n  - name: it\n    events:\n      - {at: 0s, on: enqueue, given: {" + given + "}, expect: {asked: [p]}}\n"
		if got := told(t, document, tests); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %s; want %q", given, got, want)
		}
	}
}
