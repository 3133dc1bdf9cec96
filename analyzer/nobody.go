package analyzer

import (
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// nobody returns warnings about policies that throw for all tasks which an earlier policy of the
// same events leaves: one refuses tasks above a limit, and the other one those up to it.
func nobody(members []Member) (all []Remark) {
	var throwing []Member
	for _, m := range members {
		p := m.Verified.program
		if m.Spec.Mode != policy.Off && !(p.On&stubs.Enqueue != 0 && p.AsksRunning()) && p.Root.Any(throws) {
			throwing = append(throwing, m)
		}
	}
	pairs := 0
	for i, m := range throwing {
		for _, o := range throwing[:i] {
			if o.Spec.Mode != m.Spec.Mode || o.Verified.program.On != m.Verified.program.On || !o.covers(m) && !m.covers(o) || !sharesReads(o, m) {
				continue
			}
			if pairs++; pairs > maxPairs {
				return all
			}
			if at := m.leavesNone(o); at != nil {
				all = append(all, m.remark(at, "let one of the two leave some tasks",
					"%s meets all tasks that %s leaves: together they leave none", m.text(at), o.called()))
				break
			}
		}
	}
	return all
}

// leavesNone returns a throw of m if m throws for each task that the earlier policy o leaves, and
// each of them alone leaves some.
func (m Member) leavesNone(o Member) (at *ir.Node) {
	if !m.leaves(nil) || !o.leaves(nil) || m.leaves(&o) {
		return nil
	}
	m.Verified.program.Root.Any(func(n *ir.Node) bool {
		if throws(n) {
			at = n
		}
		return at != nil
	})
	return at
}

// leaves reports whether the policy leaves some task that an earlier one, if any, leaves. It says
// yes if that is not known.
func (m Member) leaves(earlier *Member) (some bool) {
	j := newJoint()
	rest := func() {
		a := j.join(m)
		a.statement(a.p.Root)
		some = some || a.p.Root.Any(func(n *ir.Node) bool { return ends(n) && a.reached[n] })
	}
	if earlier == nil {
		rest()
		return some
	}
	w := &pathwise{a: j.join(*earlier), left: maxPaths}
	w.a.learnMatch(m.Spec.Match)
	j.join(m)
	j.relate()
	met := false
	w.walk(w.a.p.Root, func(last *ir.Node) {
		if some || throws(last) {
			return
		}
		met = true
		mark := j.mark()
		defer j.undo(mark)
		rest()
	})
	return some || !met || w.left <= 0
}

// ends reports whether a policy ends here without a throw.
func ends(n *ir.Node) bool { return n.Op == ir.OpVerdict && !throws(n) }
