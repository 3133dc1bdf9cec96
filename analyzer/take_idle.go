package analyzer

import (
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// idleTakes returns warnings about takes on which nothing depends: the policy continues whether
// there were tokens or not, and nothing else reads the bucket or takes from it.
func idleTakes(members []Member) (all []Remark) {
	uses := map[string]int{} // of buckets, by their own names
	for _, m := range members {
		p := m.Verified.program
		p.Root.Any(func(n *ir.Node) bool {
			for _, r := range p.Reads {
				if n.Op == ir.OpRead && n.Index == r.Offset && r.Burst > 0 { // or a take's operand
					uses[m.own(r.Key)]++
				}
			}
			return false
		})
	}
	for _, m := range members {
		a := &analysis{p: m.Verified.program}
		a.p.Root.Any(func(n *ir.Node) bool {
			if n.Op != ir.OpIf || !continues(n.B) || !continues(n.C) {
				return false
			}
			take := a.named(n.A)
			for take != nil && take.Op == ir.OpNot {
				take = a.named(take.A)
			}
			if take != nil && take.Op == ir.OpTake && uses[m.own(a.p.Sites[take.Index].Name)] == 1 {
				all = append(all, m.remark(take, `write take(...) ? continue() : throw("reason")`,
					"nothing depends on %s: the policy continues in both cases, and nothing else is about the bucket", a.text(take)))
			}
			return false
		})
	}
	return all
}

func continues(n *ir.Node) bool {
	return n.Op == ir.OpVerdict && stubs.Decision(n.Imm) == stubs.Continue
}
