package analyzer

import (
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// setBack returns warnings about counts that an effect sets back to a constant while a policy reads
// their rate: until the window has passed, the fall counts as growth below 0, and hides what is
// counted meanwhile. A breaker whose failures a success sets back to 0 then opens late, or not at
// all. A rate forgets by itself.
func setBack(members []Member) (all []Remark) {
	counted := map[string]bool{} // states that effects count up by add
	rates := map[string]ir.Read{}
	members = slices.DeleteFunc(slices.Clone(members), func(m Member) bool { return m.Spec.Mode == policy.Off })
	for _, m := range members {
		p := m.Verified.program
		for _, r := range p.Reads {
			if r.Stub == stubs.StateRate {
				rates[m.own(r.Key)] = r
			}
		}
		p.Root.Any(func(n *ir.Node) bool {
			if n.Op == ir.OpEffect && p.Sites[n.Index].Effect == stubs.Add && m.step(n) == rising {
				counted[m.own(p.Sites[n.Index].Name)] = true
			}
			return false
		})
	}
	for _, m := range members {
		p := m.Verified.program
		p.Root.Any(func(n *ir.Node) bool {
			if n.Op != ir.OpEffect || p.Sites[n.Index].Effect != stubs.Set || n.A.Op != ir.OpConst {
				return false
			}
			name := p.Sites[n.Index].Name
			r, read := rates[m.own(name)]
			if read && counted[m.own(name)] {
				all = append(all, m.remark(n, "leave it out, because a rate forgets by itself; or count in a second state, and set that one back",
					"%s sets the count back, and %v takes the fall for growth below 0: it is too low until %v have passed", m.text(n), r, r.Window))
			}
			return false
		})
	}
	return all
}

// step says whether an effect adds a constant above or below 0.
func (m Member) step(n *ir.Node) slope {
	if n.A == nil || n.A.Op != ir.OpConst {
		return mixed
	}
	down := n.A.Type.Integral() && int64(n.A.Imm) < 0 || n.A.Type == stubs.Float && n.A.Imm>>63 == 1
	if down {
		return falling
	}
	return rising
}
