package analyzer

import (
	"strings"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// busyAlone warns of a policy that refuses arriving tasks by how many run, and by nothing else: the
// tasks that wait are let in without a bound, and run later.
func (a *analysis) busyAlone() {
	if a.p.On != stubs.Enqueue || !a.p.Root.Any(throws) {
		return
	}
	for _, r := range a.p.Reads {
		if r.Stub == stubs.ClassBusy || r.Stub == stubs.TenantBusy || r.Type == stubs.Name || r.Pattern != "" || r.Stub == stubs.ArrivingPriority {
			continue
		}
		return
	}
	a.p.Root.Any(func(n *ir.Node) bool {
		switch n.Op {
		case ir.OpLt, ir.OpLe, ir.OpGt, ir.OpGe:
		default:
			return false
		}
		if limit := a.named(n.B); limit != nil && limit.Op == ir.OpConst && int64(limit.Imm) <= 1 {
			return false // whether another one runs, not how many
		}
		for _, id := range []stubs.ID{stubs.ClassBusy, stubs.TenantBusy} {
			if s := a.slope(n, source{stub: id}); s == rising {
				path := stubs.Catalogue[id].Path
				a.warn(n, "compare "+strings.TrimSuffix(path, "busy")+"tasks, which counts the tasks that wait, too",
					"%s bounds no number of tasks: %s counts the tasks that run, and all others wait in the queue and run later", a.text(n), path)
				return true
			}
		}
		return false
	})
}
