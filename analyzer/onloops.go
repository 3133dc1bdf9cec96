package analyzer

import (
	"fmt"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// OnLoops returns a warning about a policy that counts custom events on several loops: each of them
// evaluates the policy, so the count is a multiple of the events. There is no warning if the policy
// reads a value that differs from loop to loop.
func OnLoops(m Member, loops []Loop) *Remark {
	p := m.Verified.program
	if m.Spec.Mode == policy.Off || len(loops) < 2 || p.On != stubs.Custom || p.ForEach() != 0 {
		return nil
	}
	for _, r := range p.Reads {
		if stubs.QueueLength <= r.Stub && r.Stub <= stubs.LoopUtilization {
			return nil
		}
	}
	var at *ir.Node
	p.Root.Any(func(n *ir.Node) bool {
		if n.Op != ir.OpTake && (n.Op != ir.OpEffect || countsBy(p, n) == 0) {
			return false
		}
		if _, own := m.Spec.State[p.Sites[n.Index].Name].(policy.PerLoop); !own {
			at = n
		}
		return at != nil
	})
	if at == nil {
		return nil
	}
	r := m.remark(at, fmt.Sprintf("write match: {loops: [%s]}, for the events to count once", loops[0].Name),
		"%s is carried out %d times for each event: each loop evaluates the policy", m.text(at), len(loops))
	return &r
}
