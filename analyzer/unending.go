package analyzer

import (
	"slices"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// Unending returns warnings about limits of functions that documents keep from being unwound, and
// about other policies that throw into such tasks alone: the throw waits until the function has
// returned.
func Unending(members []Member, kept []document.Kept) (all []Remark) {
	if len(kept) == 0 {
		return nil
	}
	keeper := document.Keeper(kept)
	for _, m := range members {
		p := m.Verified.program
		if m.Spec.Mode != policy.Enforce || p.On != stubs.Tick || !p.Root.Any(throws) {
			continue
		}
		names, where := m.Spec.Match.Tasks, "match: "
		if f, ok := m.limitOf(); ok {
			names, where = []string{f}, ""
		}
		by := ""
		if len(names) == 0 || slices.ContainsFunc(names, func(name string) bool {
			pattern, _ := lang.ParsePattern(name)
			by = keeper(pattern.Sample())
			return by == ""
		}) {
			continue
		}
		all = append(all, m.about("%snever-unwind keeps %q, by the entry %q: a throw waits until the function has returned, and ends nothing that it runs; leave one of the two out", where, names[0], by))
	}
	return all
}
