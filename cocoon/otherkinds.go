package cocoon

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// otherKinds returns warnings about policies whose match names kinds that none of the tasks of its
// names has, though such tasks have come: tasks are atomic unless something declares them. Kinds
// registered or declared for other tasks that the match is about count, too. Called with regMu held.
func (rt *Runtime) otherKinds() (all []analyzer.Remark) {
	for _, name := range slices.Sorted(maps.Keys(rt.policies)) {
		v := rt.policies[name].now
		want := v.spec.Match.Kinds
		if len(want) == 0 || v.spec.Mode == Off {
			continue
		}
		if met, kinds := rt.kindsOf(v); met && !slices.ContainsFunc(want, func(kind string) bool { return kinds[kind] }) {
			all = append(all, analyzer.Remark{Part: document.Part{Kind: "policy", Name: name},
				Err: fmt.Errorf("match: none of the tasks that have come is %v, and the policy matches none of them; declare their kind, or leave kinds out", want)})
		}
	}
	return all
}

// kindsOf reports whether a task has come that the names of the policy's match select, and the
// kinds that such tasks have, or may have. Called with regMu held.
func (rt *Runtime) kindsOf(v *version) (met bool, kinds map[string]bool) {
	about, n := selects(v.spec.Match), &rt.naming
	kinds = map[string]bool{}
	n.mu.RLock()
	defer n.mu.RUnlock()
	n.classes.Range(func(_, value any) bool {
		if c := value.(*class); c.met.Load() && about(c.text) {
			met, kinds[stubs.KindNames[c.kind.Load()]] = true, true
		}
		return true
	})
	for name, k := range n.registered {
		if about(name) {
			kinds[stubs.KindNames[k]] = true
		}
	}
	for _, d := range n.declared {
		if name, whole := d.pattern.Name(); !whole || about(name) {
			kinds[stubs.KindNames[d.kind]] = true
		}
	}
	return met, kinds
}
