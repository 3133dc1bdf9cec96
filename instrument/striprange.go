package instrument

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// stripRange does the same for a loop over a slice, or over an int:
//
//	for i, v := range x { … }
//	for s, i := x, 0; i < len(s); {
//		POLL; if i < 0 { break }; n := min(i + 512, len(s)); for ; i < n; i++ { v := s[i]; … }
//	}
func (r *rewriter) stripRange(c *code, stmt *ast.RangeStmt, every int64) int64 {
	p := piece{
		i: r.name("i"), step: every, past: "<", first: "0", constant: true, limit: "len(" + r.name("s") + ")", cmp: token.LSS,
		breaks: breaksOut(stmt.Body), counts: r.hasMinMax(stmt.Body.Lbrace), before: r.dictionary(stmt, stmt.Body),
	}
	switch r.iterates(stmt.X) {
	case overSlice:
		if r.isHidden("len", stmt.Body.Lbrace) {
			return 0
		}
	case overInt:
		p.limit, p.wraps = r.name("s"), true
	default:
		return 0
	}
	if stmt.Key != nil {
		if stmt.Tok != token.DEFINE {
			return 0
		}
		if id := stmt.Key.(*ast.Ident); id.Name != "_" {
			if p.i = id.Name; r.info.Defs[id] == nil || r.touched(r.info.Defs[id], stmt.Body) {
				return 0
			}
		}
	}
	value, end := "", ""
	if id, ok := stmt.Value.(*ast.Ident); ok && id.Name != "_" {
		value = fmt.Sprintf("%s := %s[%s];", id.Name, r.name("s"), p.i)
		if r.declares(stmt.Body, id.Name) { // v := v
			value, end = value+"{", "}"
		}
	}
	f := c.file
	from, to := r.offset(stmt.For)+len("for"), r.offset(stmt.X.Pos())
	if bytes.ContainsAny(f.src[from:to], "\n/") {
		return 0 // a line break or a comment would be lost
	}
	if value != "" && bytes.ContainsRune(f.src[to:r.offset(stmt.X.End())], '\n') {
		return 0 // the variable would stand on another line
	}
	f.edits.replace(from, to, fmt.Sprintf(" %s, %s := ", r.name("s"), p.i))
	open, close := r.around(p, true)
	r.insert(f, stmt.X.End(), fmt.Sprintf(", 0%s%sfor ; %s < %s; %s++", open, r.head(c, p), p.i, r.name("n"), p.i))
	r.insert(f, stmt.Body.Lbrace+1, value)
	r.insert(f, stmt.Body.Rbrace, end)
	r.insert(f, stmt.End(), r.foot(p)+close)
	return every
}

// declares reports whether the block itself declares the name, not a nested block.
func (r *rewriter) declares(block *ast.BlockStmt, name string) bool {
	scope := r.types.Scope().Innermost(block.Lbrace)
	return scope == nil || scope.Lookup(name) != nil
}

// isHidden reports whether a predeclared name may have another meaning at p.
func (r *rewriter) isHidden(name string, p token.Pos) bool {
	scope := r.types.Scope().Innermost(p)
	if scope == nil {
		return true
	}
	_, obj := scope.LookupParent(name, p)
	return obj != types.Universe.Lookup(name)
}

// The operand kinds of a range loop, as far as they matter.
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

// core returns the type that determines the operations on a value: for a type parameter, the type
// shared by all its type arguments.
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
