package analyzer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

func TestStrange(t *testing.T) {
	for name, want := range map[string]string{
		"gold": "", "золото": "", "GET /категории": "", "πr": "", "10µs": "", "10μs": "", "Zürich": "", "a b": "", "товар GET": "", " ": "", "東京": "",
		"g\u043eld":            "gold",         // Cyrillic o
		"GET /\u0430dmin/*":    "GET /admin/*", // Cyrillic a
		"\u0391pha":            "Apha",         // Greek Alpha
		"GET\u00a0/a":          "GET /a",       // no-break space
		"\uff27ET /a":          "GET /a",       // full width
		" GET /a":              "GET /a",
		"gold ":                "gold",
		"gold\u00a0":           "gold",
		"Zu\u0308rich":         "Zürich", // ü as two characters
		"o\u0323\u0301":        "",       // which no character has
		"\u043e g\u043eld а b": "\u043e gold а b",
	} {
		what, seen := strange(name)
		if seen != want && !(want == "" && what == "") || (what == "") != (want == "") {
			t.Errorf("%q: %q, %q; want %q", name, what, seen, want)
		}
	}
	for name, want := range map[string]string{" a": "a space at its beginning", " a ": "a space at its beginning", "a ": "a space at its end"} {
		if what, _ := strange(name); what != want {
			t.Errorf("%q has %s; want %s", name, what, want)
		}
	}
}

// Each place of a policy in which a name may stand.
func TestLookalikes(t *testing.T) {
	const gold = "g\u043eld"
	tick := func(cond string) policy.Spec {
		return on(stubs.Enqueue, `queue.length > 9 and `+cond+` ? throw("x") : continue()`)
	}
	for _, c := range []struct {
		spec  policy.Spec
		warns bool
	}{
		{tick(`arriving.labels.tier == "` + gold + `"`), true},
		{tick(`arriving.name in pattern("` + gold + `*")`), true},
		{tick(`tenant.name == "` + gold + `"`), true},
		{of(policy.Match{Tasks: []string{gold}}, tick(`arriving.priority < 3`)), true},
		{of(policy.Match{Loops: []string{gold}}, tick(`arriving.priority < 3`)), true},
		{tick(`state.k["` + gold + `"] > 5`), true},
		{on(stubs.Start, `add("k", "`+gold+`", 1)`), true},
		{policy.Spec{On: policy.Trigger{Events: stubs.Custom, Custom: gold}, Expr: `add("n", 1)`}, true},
		{on(stubs.Start, `add("k", "gold", 1)`), false},
		{tick(`arriving.labels.tier == "gold"`), false},
		{tick(`arriving.labels.tier == "золото"`), false},
	} {
		got := fmt.Sprint(remarks(Mismatched(members(t, declared, c.spec), nil)))
		if warns := strings.Contains(got, "U+043E"); warns != c.warns {
			t.Errorf("%s, %v: %s", c.spec.Expr, c.spec.Match, got)
		}
	}
}
