package analyzer

import (
	"fmt"
	"testing"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// Values of labels in other capital letters than elsewhere, or with a slip of the keyboard.
func TestMisspeltLabels(t *testing.T) {
	shed := func(cond string) policy.Spec {
		return on(stubs.Enqueue, `queue.length > 9 and `+cond+` ? throw("x") : continue()`)
	}
	gold := map[string]document.Class{"a": {Labels: map[string]string{"tier": "gold"}}}
	const want = `[policy "p0": policy.expr:1:46: nothing else has the value "Gold" of the label tier; did you mean "gold"?]`
	premium := map[string]document.Class{"a": {Labels: map[string]string{"tier": "premium"}}}
	const slip = `[policy "p0": policy.expr:1:46: nothing else has the value "premuim" of the label tier; did you mean "premium"?]`
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
		{"a slip", []policy.Spec{shed(`arriving.labels.tier != "premuim"`)}, premium, slip},
		{"a slip elsewhere", []policy.Spec{shed(`arriving.labels.tier != "premuim"`), shed(`arriving.labels.tier == "premium"`)}, nil, slip},
		{"short values", []policy.Spec{shed(`arriving.labels.tier != "god"`)}, gold, "[]"},
		{"another letter", []policy.Spec{shed(`arriving.labels.tier != "premiun"`)}, premium, "[]"},
		{"a number", []policy.Spec{shed(`arriving.labels.tier != "premium2"`)}, premium, "[]"},
		{"a long list", []policy.Spec{shed(`arriving.labels.tier not in ["premuim", "a", "b", "c", "d", "e", "f", "g", "h", "i"]`)}, premium, "[]"},
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
