package analyzer

import (
	"fmt"
	"strings"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

var opNames = [...]string{"const", "read", "local", "let", "not", "neg", "and", "or", "add", "sub", "mul", "div", "mod", "eq", "ne", "lt",
	"le", "gt", "ge", "if", "float", "int", "retype", "any", "all", "none", "count", "effect", "seq", "verdict"}

// show prints a tree, for the messages of tests.
func show(n *ir.Node) string {
	switch n.Op {
	case ir.OpConst:
		return fmt.Sprint(stubs.Value(n.Imm, n.Type))
	case ir.OpRead:
		return fmt.Sprintf("read%d", n.Index)
	case ir.OpLocal:
		return fmt.Sprintf("local%d", n.Index)
	case ir.OpVerdict:
		return stubs.Decision(n.Imm).String()
	}
	parts := []string{opNames[n.Op]}
	switch n.Op {
	case ir.OpLet:
		parts = append(parts, fmt.Sprintf("local%d", n.Index))
	case ir.OpAny, ir.OpAll, ir.OpNone, ir.OpCount:
		parts = append(parts, fmt.Sprintf("local%d in %+v", n.Index, n.Source))
	}
	for _, operand := range []*ir.Node{n.A, n.B, n.C} {
		if operand != nil {
			parts = append(parts, show(operand))
		}
	}
	return "(" + strings.Join(parts, " ") + ")"
}
