package analyzer

import (
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// paidFor returns warnings about tokens taken from a bucket for tasks that a later policy refuses.
// A later policy that takes tokens itself is left out, for one of two takes must be the first, and
// one with effects, for a policy that counts tasks must be the last one that refuses.
func paidFor(members []Member) (all []Remark) {
	pairs := 0
	for i, m := range members {
		if m.Verified.program.On != stubs.Enqueue || m.Spec.Mode == policy.Off || len(m.takes()) == 0 || !m.Verified.program.Root.Any(throws) {
			continue
		}
		for _, o := range members[i+1:] {
			p := o.Verified.program
			if p.On != stubs.Enqueue || o.Spec.Mode != m.Spec.Mode || len(p.Sites) > 0 || !p.Root.Any(throws) || !m.meets(o) {
				continue
			}
			if pairs++; pairs > maxPairs {
				return all
			}
			if taken := m.pays(o); taken != nil {
				all = append(all, m.remark(taken, "write this policy behind it, unless refused tasks are to pay, too",
					"%s has taken tokens when the policy %q refuses the task: they are lost", m.text(taken), o.Spec.Name))
				break
			}
		}
	}
	return all
}

// pays returns the take of a task that m lets in and that o may refuse.
func (m Member) pays(o Member) *ir.Node {
	j, refused := newJoint(), false
	a := j.join(m)
	a.learnMatch(o.Spec.Match)
	j.join(o)
	j.relate()
	a.taking = func() {
		later := j.join(o)
		later.statement(later.p.Root)
		refused = refused || reaches(later.reached, stubs.Throw)
	}
	a.statement(a.p.Root)
	p := payments{a: a, left: maxPaths * maxParts}
	if p.follow(a.p.Root, [][]condition{nil}); !refused {
		return nil
	}
	return p.kept
}
