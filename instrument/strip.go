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
// functions or addresses that keep it.
//
// If the loop ends before i could wrap around, a piece ends by one comparison, provided that the
// loop has a limit (see limitOf). An additional check tells the compiler that i only grows from
// piece to piece, which the compiler cannot deduce, so it removes the same bounds checks as before.
//
//	for i := a; ; { first := i; for {
//		POLL; if i < first { break }; m := i + 512; n := m; if n > b { n = b }; for ; i < n; i++ { … }; if i != m { break }
//	}; break }
//
// A test of the counter inside the loop would be simpler, but is not cheaper than a poll at each
// iteration: of a copy, a sum, a count and an axpy, the poll costs 3 to 95 %, the test 15 to 110 %,
// and a second comparison 2 to 40 %.
//
// strip returns the number of iterations of a piece, or 0 if the loop cannot be split.
func (r *rewriter) strip(c *code, stmt ast.Stmt, body *ast.BlockStmt) (every int64) {
	cost := max(r.costOfIteration(c, body), 1)
	if cost > stretch/16 || closes(stmt) {
		return 0
	}
	every = min(int64(1)<<(bits.Len(uint(stretch/cost))-1), 1024)
	switch stmt := stmt.(type) {
	case *ast.ForStmt:
		return r.stripFor(c, stmt, every)
	case *ast.RangeStmt:
		return r.stripRange(c, stmt, every)
	}
	return 0
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
	count, ok := r.counterOf(stmt)
	if !ok || stmt.Cond == nil || r.cost(stmt.Cond) > stretch/16 || r.keeps(stmt) {
		return 0
	}
	if count.step > 8 || count.step < -8 {
		return 0 // the end of a piece might be out of a small type's range
	}
	if count.bits == 8 { // a piece is a constant of the type
		every = min(every, 32, 127/max(count.step, -count.step))
	}
	p := piece{i: count.name, step: every * count.step}
	open, end := "; ; {", "}"
	if end := r.endOf(count, stmt.Cond); end != nil {
		p.past = "<"
		if count.step < 0 {
			p.past = ">"
		}
		p.first = r.name("first")
	}
	if p.past != "" {
		open, end = fmt.Sprintf("; ; { %s := %s; for {", p.first, p.i), "}; break }"
	}
	m := r.name("m")
	switch limit := r.limitOf(c, stmt, count); {
	case limit != nil:
		from, to := r.offset(limit.Pos()), r.offset(limit.End())
		p.limit, p.reaches = string(c.file.src[from:to]), ast.Unparen(stmt.Cond).(*ast.BinaryExpr).Op == token.GEQ
		p.wraps = r.info.Types[limit].Value == nil && !r.isLength(limit)
		c.file.edits.replace(from, to, r.name("n"))
	case r.silent(stmt.Cond):
		r.insert(c.file, stmt.Cond.Pos(), "(")
		r.insert(c.file, stmt.Cond.End(), ") && "+p.i+" != "+m)
	default:
		r.insert(c.file, stmt.Cond.Pos(), p.i+" != "+m+" && (")
		r.insert(c.file, stmt.Cond.End(), ")")
	}
	r.insert(c.file, stmt.Init.End(), open+r.head(c, p)+"for ")
	r.insert(c.file, stmt.End(), r.foot(p)+end)
	return every
}

// piece contains what the text around a piece depends on.
type piece struct {
	i       string // the counter
	step    int64  // its increase in a piece
	past    string // the comparison with the first value that is out of range, or ""
	first   string
	limit   string // the expression that the loop's condition compares with, or ""
	reaches bool   // the comparison includes equality
	wraps   bool   // the end of a piece may be out of the type's range
}

// head returns the text before the inner loop.
func (r *rewriter) head(c *code, p piece) string {
	m, n := r.name("m"), r.name("n")
	text := " " + r.poll(c)
	if p.past != "" {
		text += fmt.Sprintf(" if %s %s %s { break };", p.i, p.past, p.first)
	}
	if p.step < 0 {
		text += fmt.Sprintf(" %s := %s - %d;", m, p.i, -p.step) // valid for unsigned types too
	} else {
		text += fmt.Sprintf(" %s := %s + %d;", m, p.i, p.step)
	}
	if p.limit == "" {
		return text + " "
	}
	further := ">"
	if p.past == ">" {
		further = "<"
	}
	text += fmt.Sprintf(" %s := %s;", n, m)
	if p.reaches {
		text += fmt.Sprintf(" %s++;", n)
	}
	if p.wraps {
		text += fmt.Sprintf(" if %s %s %s { %s = %s };", m, p.past, p.i, n, p.limit)
	}
	return text + fmt.Sprintf(" if %s %s %s { %s = %s }; ", n, further, p.limit, n, p.limit)
}

// foot returns the text after the inner loop.
func (r *rewriter) foot(p piece) string {
	return fmt.Sprintf("; if %s != %s { break } ", p.i, r.name("m"))
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
		switch obj.Type().Underlying().(type) {
		case *types.Basic, *types.Slice, *types.Pointer:
		default:
			return true // arrays and structs also have addresses of parts
		}
		if r.addressed(obj, stmt) {
			return true
		}
	}
	return false
}
