package instrument

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"math/bits"
)

// strip splits a counting loop with cheap iterations into pieces, and polls before each:
//
//	for i := a; i < b; i++ { … }
//	for i := a; ; { POLL; m := i + 512; for ; (i < b) && i != m; i++ { … }; if i != m { break } }
//
// Break and continue without a label mean the same in the inner loop, because a break leaves i
// different from m. i may wrap around on its way to m. A condition with more than a comparison of
// values comes after i != m, so it is evaluated exactly as often as before. One difference remains:
// a variable of each iteration becomes a variable of the whole loop. So the loop must not contain
// functions or addresses that keep it. The counter may also be a variable of the function:
//
//	for i < x.b { …; i++ }
//	for { POLL; m := i + 512; for (i < x.b) && i != m { …; i++ }; if i != m { break } }
//
// If the loop ends before i could wrap around, an additional check tells the compiler that i only
// grows from piece to piece, which the compiler cannot deduce, so it removes the same bounds checks
// as before. If the comparison with a limit is the whole condition (see limitOf), a piece ends by
// one comparison:
//
//	for i := a; ; { first := i; for i < b { POLL; if i < first { break }; n := min(i+512, b); for ; i < n; i++ { … } }; break }
//
// There, a break in the body would only leave the piece. So a loop that contains one compares i with
// the end of the piece afterwards, as above.
//
// A test of the counter inside the loop would be simpler, but is not cheaper than a poll at each
// iteration: of a copy, a sum, a count and an axpy, the poll costs 3 to 95 %, the test 15 to 110 %,
// and a second comparison 2 to 40 %.
//
// strip sets the number of iterations of a piece, if the loop can be split.
func (r *rewriter) strip(c *code, l *loop, body *ast.BlockStmt) {
	var before []token.Pos
	cost := max(r.costOfIteration(c, body), 1)
	if cost >= endless && !r.pollsInline(c) {
		before, cost = r.rareCalls(c, body)
	}
	if cost > stretch/16 || closes(l.stmt) {
		return
	}
	l.cost = cost
	every := min(int64(1)<<(bits.Len(uint(stretch/cost))-1), 1024)
	switch stmt := l.stmt.(type) {
	case *ast.ForStmt:
		l.every = r.stripFor(c, stmt, every)
	case *ast.RangeStmt:
		l.every = r.stripRange(c, stmt, every)
	}
	if l.every > 0 {
		for _, p := range before {
			r.pollBefore(c, p)
		}
	}
}

// closes reports whether n contains a function literal.
func closes(n ast.Node) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		_, ok := n.(*ast.FuncLit)
		found = found || ok
		return !found
	})
	return found
}

func (r *rewriter) stripFor(c *code, stmt *ast.ForStmt, every int64) int64 {
	count, ok := r.loopCounter(c, stmt)
	if !ok || stmt.Cond == nil || r.cost(stmt.Cond)+r.cost(stmt.Post) > stretch/16 || stmt.Init != nil && r.keeps(stmt) {
		return 0
	}
	if isCombined(stmt.Cond) {
		return 0 // it usually ends after few iterations, and their polls are cheaper than a piece
	}
	if count.step > 8 || count.step < -8 {
		return 0 // the end of a piece might be out of a small type's range
	}
	if count.bits == 8 { // a piece is a constant of the type
		every = min(every, 32, 127/max(count.step, -count.step))
	}
	p := piece{i: count.name, step: every * count.step, before: r.dictionary(stmt, stmt.Body)}
	if r.endOf(count, stmt.Cond) != nil {
		p.past = "<"
		if count.step < 0 {
			p.past = ">"
		}
		p.first = r.name("first")
	}
	if limit := r.limitOf(c, stmt, count); limit != nil {
		cmp := ast.Unparen(stmt.Cond).(*ast.BinaryExpr).Op
		from, to := r.offset(limit.Pos()), r.offset(limit.End())
		p.limit, p.cmp = string(c.file.src[from:to]), cmp
		p.wraps = r.info.Types[limit].Value == nil && !r.isLength(limit)
		p.breaks = breaksOut(stmt.Body)
		p.counts = r.hasMinMax(stmt.Body.Lbrace)
		if first, ok := r.constant(count.first); ok && !p.breaks {
			p.constant, p.first = true, fmt.Sprint(first)
		}
		c.file.edits.replace(from, to, r.name("n"))
	} else {
		if !r.isIndex(count.obj, stmt.Body) && r.copies(c, stmt) > 0 {
			return 0 // a poll in a few iterations costs less than a second comparison in each
		}
		m := r.name("m")
		if r.silent(stmt.Cond) {
			r.insert(c.file, stmt.Cond.Pos(), "(")
			r.insert(c.file, stmt.Cond.End(), ") && "+p.i+" != "+m)
		} else {
			r.insert(c.file, stmt.Cond.Pos(), p.i+" != "+m+" && (")
			r.insert(c.file, stmt.Cond.End(), ")")
		}
	}
	open, end := r.around(p, stmt.Init != nil)
	r.insert(c.file, behindInit(stmt), open+r.head(c, p)+"for ")
	r.insert(c.file, stmt.End(), r.foot(p)+end)
	return every
}

// isIndex reports whether the code uses a variable in an index. If the loop is split, the compiler
// knows that its counter is not negative.
func (r *rewriter) isIndex(v types.Object, n ast.Node) (found bool) {
	uses := func(e ast.Node) bool {
		id, ok := e.(*ast.Ident)
		found = found || ok && r.info.Uses[id] == v
		return !found
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			ast.Inspect(n.Index, uses)
		case *ast.SliceExpr:
			for _, e := range []ast.Expr{n.Low, n.High, n.Max} {
				if e != nil {
					ast.Inspect(e, uses)
				}
			}
		}
		return !found
	})
	return found
}

// isCombined reports whether the condition consists of several.
func isCombined(cond ast.Expr) bool {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	return ok && (b.Op == token.LAND || b.Op == token.LOR)
}

// behindInit returns the end of a loop's init statement, or of the keyword.
func behindInit(stmt *ast.ForStmt) token.Pos {
	if stmt.Init == nil {
		return stmt.For + token.Pos(len("for"))
	}
	return stmt.Init.End()
}

// keeps reports whether the loop may keep the address of a variable it declares.
func (r *rewriter) keeps(stmt *ast.ForStmt) bool {
	for _, l := range stmt.Init.(*ast.AssignStmt).Lhs {
		id, ok := l.(*ast.Ident)
		if !ok {
			return true
		}
		obj := r.info.Defs[id]
		if obj == nil {
			continue // blank
		}
		kept := true // arrays and structs also have addresses of parts
		switch obj.Type().Underlying().(type) {
		case *types.Basic, *types.Slice:
			kept = r.addressed(obj, stmt)
		case *types.Pointer:
			kept = r.referenced(obj, stmt)
		}
		if kept {
			return true
		}
	}
	return false
}
