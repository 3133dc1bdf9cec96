package instrument

import (
	"go/ast"
	"go/token"
)

// path is a stretch of a function without a poll.
type path struct {
	from, to token.Pos
	units    int // upper bound of its cost; negative: unreachable
}

var nowhere = path{units: -1}

func (p path) plus(units int) path {
	if p.units >= 0 {
		p.units = min(p.units+units, endless-1)
	}
	return p
}

func longer(paths ...path) path {
	longest := nowhere
	for _, p := range paths {
		if p.units > longest.units {
			longest = p
		}
	}
	return longest
}

// walker follows all paths through one function, as far as bounds are known. Code without a bound
// is a separate gap.
type walker struct {
	s        *survey
	c        *code
	longest  path // of the paths that have ended
	jumped   path // the longest path that a branch took elsewhere
	deferred int  // cost of the code at the function's end
}

// longest returns the function's longest path.
func (s *survey) longest(c *code) path {
	if p, ok := s.paths[c]; ok {
		return p
	}
	s.paths[c] = path{from: c.body.Pos(), to: c.body.Pos()} // for recursion
	w := &walker{s: s, c: c, longest: nowhere, jumped: nowhere}
	out := w.list(c.body.List, path{from: c.body.Pos()})
	w.end(out.plus(w.deferred), c.body.Rbrace)
	s.paths[c] = w.longest
	return w.longest
}

// end ends a path at a safe point, or at the function's end.
func (w *walker) end(p path, at token.Pos) {
	p.to = at
	w.longest = longer(w.longest, p)
}

// poll ends a path at a poll, and starts the next one.
func (w *walker) poll(p path, at token.Pos) path {
	w.end(p, at)
	if p.units < 0 {
		return nowhere
	}
	return path{from: at}
}

func (w *walker) list(stmts []ast.Stmt, in path) path {
	for _, s := range stmts {
		in = w.stmt(s, in)
	}
	return in
}

// stmt follows the paths through a statement, and keeps only the longest.
func (w *walker) stmt(s ast.Stmt, in path) path {
	if s == nil {
		return in
	}
	for _, p := range w.c.polls {
		if p == s.Pos() {
			in = w.poll(in, p)
		}
	}
	switch s := s.(type) {
	case *ast.BlockStmt:
		return w.list(s.List, in)
	case *ast.LabeledStmt:
		return w.stmt(s.Stmt, longer(in, w.jumped))
	case *ast.IfStmt:
		in = w.stmt(s.Init, in).plus(w.units(s.Cond))
		return longer(w.list(s.Body.List, in), w.stmt(s.Else, in))
	case *ast.SwitchStmt:
		return w.clauses(s.Body, w.stmt(s.Init, in).plus(w.units(s.Tag)))
	case *ast.TypeSwitchStmt:
		return w.clauses(s.Body, w.stmt(s.Assign, w.stmt(s.Init, in)))
	case *ast.SelectStmt:
		return w.clauses(s.Body, in)
	case *ast.ForStmt:
		return w.loop(s, s.Body, w.stmt(s.Init, in), w.units(s.Cond), w.units(s.Post))
	case *ast.RangeStmt:
		return w.loop(s, s.Body, in.plus(w.units(s.X)), 1, 0)
	case *ast.BranchStmt:
		w.jumped = longer(w.jumped, in.plus(1))
		return nowhere
	case *ast.ReturnStmt:
		w.end(in.plus(w.units(s)+w.deferred), s.End())
		return nowhere
	case *ast.DeferStmt:
		w.deferred += w.units(s.Call)
		return in.plus(moveCost)
	case *ast.GoStmt:
		for _, arg := range s.Call.Args {
			in = in.plus(w.units(arg))
		}
		return in.plus(moveCost)
	}
	return in.plus(w.units(s))
}

// clauses follows the paths through a switch or a select. All expressions of the cases may be
// evaluated.
func (w *walker) clauses(body *ast.BlockStmt, in path) path {
	out, fallen := in, nowhere
	for _, s := range body.List {
		var stmts []ast.Stmt
		from := in
		switch s := s.(type) {
		case *ast.CaseClause:
			for _, e := range s.List {
				in = in.plus(w.units(e))
			}
			from, stmts = longer(in, fallen), s.Body
		case *ast.CommClause:
			from, stmts = w.stmt(s.Comm, in), s.Body
		}
		out = longer(out, w.list(stmts, from))
		fallen = nowhere
		if n := len(stmts); n > 0 && isFallthrough(stmts[n-1]) {
			fallen = w.jumped
		}
	}
	return longer(out, w.jumped)
}

func isFallthrough(s ast.Stmt) bool {
	b, ok := s.(*ast.BranchStmt)
	return ok && b.Tok == token.FALLTHROUGH
}

// loop follows the paths through a loop with its chosen polls. An unbounded loop, which is a
// separate gap, counts as one iteration.
func (w *walker) loop(stmt ast.Stmt, body *ast.BlockStmt, in path, cond, post int) path {
	var l *loop
	for _, known := range w.c.loops {
		if known.stmt == stmt {
			l = known
		}
	}
	in = in.plus(cond)
	if total := w.s.r.cost(stmt); l.every == 0 && !l.polls && total < endless {
		return in.plus(total)
	}
	around := w.jumped
	w.jumped = nowhere
	from := in
	switch {
	case l.every > 0:
		from = w.poll(in, body.Pos()).plus(int(l.every-1) * (l.cost + cond + post))
	case l.polls:
		from = w.poll(in, body.Pos())
	}
	out := w.list(body.List, from).plus(cond + post)
	if l.polls {
		w.end(longer(out, w.jumped), stmt.End())
	}
	out = longer(in, out, w.jumped)
	w.jumped = longer(around, w.jumped)
	return out
}

// units returns an upper bound of the code's cost, as far as there is one. A call of the package's
// own function costs its longest path.
func (w *walker) units(n ast.Node) int {
	sum := sumOf(n, func(n ast.Node) (units int, whole bool) {
		if call, ok := n.(*ast.CallExpr); ok {
			if target, c, _ := w.s.r.callee(call); target == own {
				return callCost + max(w.s.longest(c).units, 0), false
			}
		}
		return w.s.r.costIfKnown(n)
	})
	return min(sum, endless-1)
}
