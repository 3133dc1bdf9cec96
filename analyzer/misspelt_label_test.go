package analyzer

import (
	"fmt"
	"testing"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// Values of labels in other capital letters than elsewhere.
func TestMisspeltLabels(t *testing.T) {
	shed := func(cond string) policy.Spec {
		return on(stubs.Enqueue, `queue.length > 9 and `+cond+` ? throw("x") : continue()`)
	}
	gold := map[string]document.Class{"a": {Labels: map[string]string{"tier": "gold"}}}
	const want = `[policy "p0": policy.expr:1:46: nothing else has the value "Gold" of the label tier; did you mean "gold"?]`
	for _, c := range []struct {
		name  string
		specs []policy.Spec
		tasks map[string]document.Class
		want  string
	}{
		{"declared", []policy.Spec{shed(`arriving.labels.tier != "Gold"`)}, gold, want},
		{"compared", []policy.Spec{shed(`arriving.labels.tier != "Gold"`), shed(`arriving.labels.tier == "gold"`)}, nil, want},
		{"the same", []policy.Spec{shed(`arriving.labels.tier != "gold"`)}, gold, "[]"},
		{"another label", []policy.Spec{shed(`arriving.labels.name != "Gold"`)}, gold, "[]"},
		{"both", []policy.Spec{shed(`arriving.labels.tier not in ["gold", "Gold"]`)}, gold, "[]"},
		{"twice", []policy.Spec{shed(`arriving.labels.tier == "Gold"`), shed(`arriving.labels.tier != "Gold"`)}, gold, "[]"},
	} {
		var got []string
		for _, r := range Mismatched(members(t, declared, c.specs...), c.tasks) {
			got = append(got, fmt.Sprintf("%v: %v", r.Part, r.Err))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, got, c.want)
		}
	}
}
