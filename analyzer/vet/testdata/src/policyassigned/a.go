// Package policyassigned assigns expressions to fields.
package policyassigned

import "github.com/cocoon-go/cocoon/cocoon"

// What else the policy is, is not known.
func Assigned(p cocoon.Policy, q *cocoon.Policy) {
	p.Expr = `state.any ? switch() : continue()`
	p.Expr = `task.runing > duration("1s") ? switch() : continue()` // want `there is no state stub task.runing`
	q.Expr = "swich()"                                              // want `there is no function swich`
	p.Expr, q.Expr = "continue()", "contniue()"                     // want `there is no function contniue`
}

// That of a literal may have been replaced.
var literal = cocoon.Policy{Expr: "nonsense"}
