package lang

import (
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser/lexer"
)

// span is a range of tokens, both ends included.
type span struct{ first, last int }

// span returns the tokens of a node, including the parentheses around it.
func (s *source) span(n ast.Node) span {
	if sp, ok := s.spans[n]; ok {
		return sp
	}
	sp := s.outline(n)
	for sp.first > 0 && s.match[sp.first-1] == sp.last+1 && s.tokens[sp.first-1].Value == "(" &&
		(sp.first < 2 || s.tokens[sp.first-2].Kind != lexer.Identifier) {
		sp.first, sp.last = sp.first-1, sp.last+1
	}
	s.spans[n] = sp
	return sp
}

// outline is span without the surrounding parentheses.
func (s *source) outline(n ast.Node) span {
	own := s.at[n.Location().From]
	close := func(i int) int { // of the bracket i, if it is one
		if i < len(s.match) && s.match[i] > i {
			return s.match[i]
		}
		return min(i, len(s.tokens)-1)
	}
	switch n := n.(type) {
	case *ast.UnaryNode:
		inner := s.span(n.Node)
		return span{min(own, inner.first), inner.last}
	case *ast.BinaryNode:
		return span{s.span(n.Left).first, s.span(n.Right).last}
	case *ast.ConditionalNode:
		return span{s.span(n.Cond).first, s.span(n.Exp2).last}
	case *ast.VariableDeclaratorNode:
		return span{own, s.span(n.Expr).last}
	case *ast.SequenceNode:
		return span{s.span(n.Nodes[0]).first, s.span(n.Nodes[len(n.Nodes)-1]).last}
	case *ast.PredicateNode:
		return s.span(n.Node)
	case *ast.ChainNode:
		return s.span(n.Node)
	case *ast.MemberNode:
		last := close(own)
		if s.tokens[own].Value != "[" {
			last = own
		}
		return span{s.span(n.Node).first, last}
	case *ast.SliceNode:
		return span{s.span(n.Node).first, close(own)}
	case *ast.CallNode:
		if m, ok := n.Callee.(*ast.MemberNode); ok {
			return span{s.span(m).first, close(own + 1)}
		}
		return span{own, close(own + 1)}
	case *ast.BuiltinNode:
		return span{own, close(own + 1)}
	case *ast.ArrayNode, *ast.MapNode:
		return span{own, close(own)}
	}
	return span{own, own}
}

// place returns the byte range of a node.
func (s *source) place(n ast.Node) (pos, end int) {
	sp := s.span(n)
	return s.bytes[s.tokens[sp.first].From], s.bytes[s.tokens[sp.last].To]
}

// excerpt returns the text of a node for an error, shortened when it is long.
func (s *source) excerpt(n ast.Node) string {
	pos, end := s.place(n)
	words := strings.Fields(s.text[pos:end])
	text := []rune(strings.Join(words, " "))
	if len(text) > 40 {
		return string(text[:37]) + "..."
	}
	return string(text)
}
