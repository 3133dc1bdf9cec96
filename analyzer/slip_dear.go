package analyzer

import (
	"fmt"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// dear warns of a limit that ends tasks before the running time that a document expects of them.
func (m Member) dear(tasks map[string]document.Class) (all []Remark) {
	if len(tasks) == 0 {
		return nil
	}
	name, limit := m.limited()
	if c, ok := tasks[name]; ok && limit > 0 && c.Cost > limit {
		all = append(all, Remark{document.Part{Kind: "policy", Name: m.Spec.Name},
			fmt.Errorf("the tasks %q are declared to take %v, and this limit ends them after %v", name, c.Cost, limit)})
	}
	return all
}

// limited returns the name and the time of a limit in a document; 0 for another policy.
func (m Member) limited() (name string, limit time.Duration) {
	name, ok := m.limitOf()
	if !ok {
		return "", 0
	}
	m.Verified.program.Root.Any(func(n *ir.Node) bool {
		if n.Op == ir.OpConst && n.Type == stubs.Duration {
			limit = max(limit, time.Duration(n.Imm))
		}
		return false
	})
	return name, limit
}
