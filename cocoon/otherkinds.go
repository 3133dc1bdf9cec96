package cocoon

import (
	"fmt"
	"slices"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// otherKinds returns warnings about policies whose match names kinds that none of the tasks of its
// names has, though such tasks have come: tasks are atomic unless something declares them. Kinds
// registered or declared for other tasks that the match is about count, too. Called with regMu
// held.
func (rt *Runtime) otherKinds() (all []analyzer.Remark) {
	for name, v := range rt.switchedOn() {
		want := v.spec.Match.Kinds
		if len(want) == 0 {
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
	kinds = map[string]bool{}
	rt.naming.eachKind(selects(v.spec.Match), func(k Kind, come, about bool) {
		if about {
			met, kinds[stubs.KindNames[k]] = met || come, true
		}
	})
	return met, kinds
}
