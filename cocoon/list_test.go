package cocoon

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/internal/longtest"
)

// A document with a list of thousands of names is enforced, told nothing of in Unmet, and gives
// each tenant of a list its own account.
func TestBlocklist(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	var list strings.Builder
	users := longtest.Count(lang.MaxConstants-20, 1000)
	for i := range users {
		fmt.Fprintf(&list, "%q, ", fmt.Sprint("customer ", i))
	}
	must(t, rt.RegisterTenants(Tenants{Label: "tenant", Max: 1}))
	must(t, rt.LoadPolicies(strings.NewReader(`version: 1
policies:
  - {name: block, on: enqueue, expr: 'arriving.labels.user in [`+list.String()+`] ? throw("blocked") : continue()'}
  - {name: tenants, on: enqueue, expr: 'tenant.name in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"] ? throw("tenant") : continue()'}
`)))
	for user, want := range map[string]string{"customer 0": "blocked", fmt.Sprint("customer ", users-1): "blocked", fmt.Sprint("customer ", users): "", "": ""} {
		if got := reasonOf(t, rt, WithLabel(background, "user", user), "job"); got != want {
			t.Errorf("%q: %q; want %q", user, got, want)
		}
	}
	for _, tenant := range []string{"z", "y", "c", "j"} {
		want := map[bool]string{true: "tenant"}[tenant < "k"]
		if got := reasonOf(t, rt, WithLabel(background, "tenant", tenant), "job"); got != want {
			t.Errorf("the tenant %s: %q; want %q", tenant, got, want)
		}
	}
	if got := fmt.Sprint(rt.Stats().Unmet); got != "[]" {
		t.Errorf("unmet: %.200s", got)
	}
}
