package instrument

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
)

// looseStretch is a node at which a resource is loose, with the text between the previous node and
// it, or a loop with a loose resource at the head of its body, as far as this head.
type looseStretch struct {
	span
	node ast.Node
	of   resource // unknown for some defer statements
	by   ast.Node // it will release the resource
	// a poll, or a call that may poll, is in the node
	polls bool
}

// litIn returns the called or started literal that releases a node's resource, or nil.
func litIn(n, by ast.Node) *ast.FuncLit {
	if lit, ok := by.(*ast.FuncLit); ok && isIn(lit, n) {
		return lit
	}
	return nil
}

func isIn(inner, outer ast.Node) bool {
	return outer.Pos() <= inner.Pos() && inner.End() <= outer.End()
}

// isLoose reports whether a throw at p would lose a resource.
func (c *code) isLoose(p token.Pos) bool {
	return slices.ContainsFunc(c.loose, func(s looseStretch) bool { return s.has(p) && p < s.to })
}

// keepLoose registers the lines on which a poll in a loose stretch, or in a call there, would
// throw. A task can be suspended there.
func (r *rewriter) keepLoose(c *code) {
	for i := range c.heads {
		s := &c.heads[i]
		s.polls = slices.ContainsFunc(c.loops, func(l *loop) bool { return l.stmt == s.node && (l.polls || l.every > 0) })
		if s.polls {
			for _, line := range r.linesOf(s.span) {
				r.ends[line] = true
			}
		}
	}
	for i := range c.loose {
		s := &c.loose[i]
		ast.PreorderStack(s.node, nil, func(n ast.Node, stack []ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if ok && call.Fun == litIn(s.node, s.by) {
				return true
			}
			if ok && !isLater(call, stack) && r.comesToPoll(call) {
				r.ends[r.placeOf(call.Lparen)] = true
				s.polls = true
			}
			_, lit := n.(*ast.FuncLit)
			return !lit
		})
	}
	for _, p := range c.polls {
		if c.isLoose(c.continuesAt(p)) {
			r.ends[r.placeOf(p)] = true
		}
	}
}

// keptLoose returns the first place of each resource at which a loop or a call polls between the
// acquisition and the defer statement.
func (r *rewriter) keptLoose(c *code) (all []Kept) {
	seen := map[resource]bool{}
	for _, s := range slices.Concat(c.loose, c.heads) {
		if !s.polls || s.of.v == nil || s.node == s.by || seen[s.of] {
			continue
		}
		seen[s.of] = true
		does := "makes sure of that"
		if _, ok := s.by.(*ast.DeferStmt); ok {
			does = "defers that"
		}
		why := fmt.Sprintf("%s may have to be released, and line %d %s", cmp.Or(s.of.path, s.of.v.Name()), r.set.Position(s.by.Pos()).Line, does)
		all = append(all, Kept{c.name, r.set.Position(s.node.Pos()), why})
	}
	return all
}

// continuesAt returns the label if the statement at p is a goto, or p.
func (c *code) continuesAt(p token.Pos) token.Pos {
	labels, name := map[string]token.Pos{}, ""
	c.walk(func(n ast.Node, _ []ast.Node) {
		switch n := n.(type) {
		case *ast.LabeledStmt:
			labels[n.Label.Name] = n.Pos()
		case *ast.BranchStmt:
			if n.Tok == token.GOTO && n.Pos() == p {
				name = n.Label.Name
			}
		}
	})
	return cmp.Or(labels[name], p)
}

// isLater reports whether the innermost node is the call of a defer or go statement.
func isLater(call *ast.CallExpr, stack []ast.Node) bool {
	if len(stack) == 0 {
		return false
	}
	switch s := stack[len(stack)-1].(type) {
	case *ast.DeferStmt:
		return s.Call == call
	case *ast.GoStmt:
		return s.Call == call
	}
	return false
}
