package instrument

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"math/bits"
)

// strip takes a loop that counts cheap iterations into pieces, and polls before each:
//
//	for i := a; i < b; i++ { … }
//	for i := a; ; { POLL; n := i + 512; for ; i != n && (i < b); i++ { … }; if i != n { break } }
//
// The condition is evaluated exactly as often as before, so it may be any; break and continue without a label mean the same
// in the inner loop, for a break leaves i behind n; and i may wrap around on its way to n. What does differ is that a
// variable of each iteration is one of the whole loop; so the loop must not have functions or addresses that keep it.
//
// A test of the counter inside the loop would be simpler, and is not cheaper than a poll at each iteration: of a copy, a sum,
// a count and an axpy, the poll costs 3 to 95 %, the test 15 to 110 %, and this 2 to 40 %.
//
// It returns the number of iterations of a piece, or 0 when the loop cannot be taken apart.
func (r *rewriter) strip(c *code, stmt ast.Stmt, body *ast.BlockStmt) (every int64) {
	cost := max(r.cost(body), 1)
	if cost > stretch/16 || closes(stmt) {
		return 0
	}
	every = min(int64(1)<<(bits.Len(uint(stretch/cost))-1), 1024)
	switch stmt := stmt.(type) {
	case *ast.ForStmt:
		return r.stripFor(c.file, stmt, every)
	case *ast.RangeStmt:
		return r.stripRange(c.file, stmt, every)
	}
	return 0
}

// closes reports whether there is a function literal in n.
func closes(n ast.Node) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		_, ok := n.(*ast.FuncLit)
		found = found || ok
		return !found
	})
	return found
}

func (r *rewriter) stripFor(f *file, stmt *ast.ForStmt, every int64) int64 {
	count, ok := r.counterOf(stmt)
	if !ok || stmt.Cond == nil || r.cost(stmt.Cond) > stretch/16 || r.keeps(stmt) {
		return 0
	}
	if count.bits == 8 {
		every = min(every, 32)
	}
	if count.step > 8 || count.step < -8 {
		return 0 // the end of a piece might be beyond a small type
	}
	r.insert(f, stmt.Init.End(), r.piece(count.name, every*count.step))
	r.insert(f, stmt.Cond.Pos(), fmt.Sprintf("%s != %s && (", count.name, r.name("n")))
	r.insert(f, stmt.Cond.End(), ")")
	r.insert(f, stmt.End(), r.pieceEnd(count.name))
	return every
}

func (r *rewriter) piece(counter string, step int64) string {
	return fmt.Sprintf("; ; { %s %s := %s + (%d); for ", r.poll(), r.name("n"), counter, step)
}

func (r *rewriter) pieceEnd(counter string) string {
	return fmt.Sprintf("; if %s != %s { break } }", counter, r.name("n"))
}

// keeps reports whether the loop may keep the address of a variable that it declares.
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
			return true // of arrays and structs there are also the addresses of parts
		}
		if r.addressed(obj, stmt) {
			return true
		}
	}
	return false
}

// stripRange does the same to a loop over a slice, or over an int:
//
//	for i, v := range x { … }
//	for s, i := x, 0; ; { POLL; n := i + 512; for ; i != n && i < len(s); i++ { v := s[i]; … }; if i != n { break } }
func (r *rewriter) stripRange(f *file, stmt *ast.RangeStmt, every int64) int64 {
	end := "len(" + r.name("s") + ")"
	switch r.iterates(stmt.X) {
	case overSlice:
	case overInt:
		end = r.name("s")
	default:
		return 0
	}
	i, value := r.name("i"), ""
	if stmt.Key != nil {
		if stmt.Tok != token.DEFINE {
			return 0
		}
		if id := stmt.Key.(*ast.Ident); id.Name != "_" {
			if i = id.Name; r.info.Defs[id] == nil || r.touched(r.info.Defs[id], stmt.Body) {
				return 0
			}
		}
	}
	if id, ok := stmt.Value.(*ast.Ident); ok && id.Name != "_" {
		value = fmt.Sprintf("%s := %s[%s];", id.Name, r.name("s"), i)
	}
	from, to := r.offset(stmt.For)+len("for"), r.offset(stmt.X.Pos())
	if bytes.ContainsAny(f.src[from:to], "\n/") {
		return 0 // a line, or a comment, would be lost
	}
	f.edits.replace(from, to, fmt.Sprintf(" %s, %s := ", r.name("s"), i))
	r.insert(f, stmt.X.End(), ", 0"+r.piece(i, every)+fmt.Sprintf("; %s != %s && %s < %s; %s++", i, r.name("n"), i, end, i))
	r.insert(f, stmt.Body.Lbrace+1, value)
	r.insert(f, stmt.End(), r.pieceEnd(i))
	return every
}

// What a range loop goes over, as far as it matters.
type over int

const (
	overOther over = iota
	overSlice
	overInt
)

func (r *rewriter) iterates(x ast.Expr) over {
	t := r.info.TypeOf(x)
	if t == nil {
		return overOther
	}
	switch u := core(t).(type) {
	case *types.Slice:
		return overSlice
	case *types.Basic:
		if t == types.Typ[types.Int] || u.Kind() == types.UntypedInt {
			return overInt
		}
	}
	return overOther
}

// core returns the type that decides what a value can do: of a type parameter, the one that all its arguments have.
func core(t types.Type) types.Type {
	p, ok := types.Unalias(t).(*types.TypeParam)
	if !ok {
		return t.Underlying()
	}
	if c, ok := p.Constraint().Underlying().(*types.Interface); ok && c.NumEmbeddeds() == 1 {
		if u, ok := c.EmbeddedType(0).(*types.Union); ok && u.Len() == 1 {
			return u.Term(0).Type().Underlying()
		}
	}
	return p.Underlying()
}
