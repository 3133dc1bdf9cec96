// Package plain uses nothing of Cocoon.
package plain

type Policy struct{ Expr string }

var p = Policy{Expr: "nonsense"}
