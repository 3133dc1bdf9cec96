package analyzer

import (
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// suspendable are the kinds of tasks that a switch suspends.
var suspendable = nameSetOf([]stubs.NameID{stubs.Intern("preemptible"), stubs.Intern("both")})

// idleSwitch is a switch that suspends no task, because of the kinds that its task may have.
type idleSwitch struct {
	verdict *ir.Node
	kinds   value
}

// checkSwitch records a switch that suspends no task.
func (a *analysis) checkSwitch(n *ir.Node) {
	if stubs.Decision(n.Imm) != stubs.Switch || a.facts.dead {
		return
	}
	kinds := a.kinds
	if a.kind != nil {
		kinds = kinds.meet(a.facts.known[a.facts.read(*a.kind)].names)
	}
	if kinds.meet(suspendable).empty() {
		a.idle = append(a.idle, idleSwitch{n, nameValue(kinds)})
	}
}

// idleSwitches warns of the recorded switches.
func (a *analysis) idleSwitches() {
	for _, s := range a.idle {
		a.warn(s.verdict, "switch tasks of these kinds, or declare the tasks preemptible",
			"%s does nothing: it suspends tasks of the kinds preemptible and both, and the kind is %s here", a.text(s.verdict), a.describe(s.kinds))
	}
}
