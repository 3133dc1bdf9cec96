package analyzer

import (
	"fmt"
	"math"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// percent reports whether a number of processors is most likely a percentage: a machine that has
// more is rare.
func percent(processors float64) bool { return processors > 64 && processors <= 100 }

// processors warns of a comparison of runtime.cpu, which counts processors, with a percentage. If
// the number of processors is known, it also warns of a number that is never reached, and of a
// share of one processor where many are.
func (a *analysis) processors(n, read, with *ir.Node) {
	above := n.Op == ir.OpGt || n.Op == ir.OpGe
	if n.B != with {
		above = n.Op == ir.OpLt || n.Op == ir.OpLe
	}
	c := math.Float64frombits(with.Imm)
	switch known := float64(a.machine); {
	case read.Op != ir.OpRead || a.reads[read.Index].Stub != stubs.RuntimeCPU:
	case percent(c) && known == 0:
		a.warn(n, "write 1.8 for 90 % of two processors", "runtime.cpu counts processors, and is not a percentage: %v are more than most machines have", c)
	case known > 0 && above && c >= known:
		a.warn(n, fmt.Sprintf("write %v for 90 %% of them", 0.9*known), "%s is never true: runtime.cpu counts processors, and the process has %v", a.text(n), known)
	case known >= 4 && above && 0.5 <= c && c < 1:
		a.warn(n, fmt.Sprintf("write %v for %.0f %% of them", c*known, 100*c), "%v is a share of one processor, and the process has %v", c, known)
	}
}
