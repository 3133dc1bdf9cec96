package vet

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
	"unicode/utf8"
)

// place returns the source position of the byte at an offset in the value of a constant string, and
// the end of the source text that stands for it. In a literal that text is a character or an
// escape; for the name of a constant it is the whole name. The offset after the last byte is the
// closing quote.
func (c *specCheck) place(e ast.Expr, offset int) (pos, end token.Pos) {
	switch e := ast.Unparen(e).(type) {
	case *ast.BinaryExpr: // a concatenation
		left, _ := c.text(e.X)
		if offset < len(left) {
			return c.place(e.X, offset)
		}
		return c.place(e.Y, offset-len(left))
	case *ast.BasicLit:
		if e.Value[0] == '`' {
			pos = placeInRaw(c.pass.Fset.File(e.Pos()), e, offset)
			return pos, pos + 1
		}
		from, to := placeInQuoted(e.Value, offset)
		return e.Pos() + token.Pos(from), e.Pos() + token.Pos(to)
	}
	return e.Pos(), e.End()
}

// placed reports whether place returns the exact character, and not only the name of the constant.
func (c *specCheck) placed(e ast.Expr, offset int) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		if left, _ := c.text(e.X); offset >= len(left) {
			return c.placed(e.Y, offset-len(left))
		}
		return c.placed(e.X, offset)
	case *ast.BasicLit:
		return true
	}
	return false
}

// placeInRaw counts lines, because the value of a raw literal lacks the carriage returns of the
// file.
func placeInRaw(f *token.File, lit *ast.BasicLit, offset int) token.Pos {
	before := lit.Value[:min(1+offset, len(lit.Value))]
	lines := strings.Count(before, "\n")
	if lines == 0 {
		return lit.Pos() + token.Pos(len(before))
	}
	first := f.PositionFor(lit.Pos(), false).Line
	return f.LineStart(first+lines) + token.Pos(len(before)-strings.LastIndexByte(before, '\n')-1)
}

// placeInQuoted decodes an interpreted literal up to the offset in its value.
func placeInQuoted(lit string, offset int) (from, to int) {
	rest, decoded := lit[1:len(lit)-1], 0
	for rest != "" {
		r, multibyte, tail, err := strconv.UnquoteChar(rest, '"')
		if err != nil {
			break
		}
		if decoded++; multibyte {
			decoded += utf8.RuneLen(r) - 1
		}
		if decoded > offset {
			return len(lit) - 1 - len(rest), len(lit) - 1 - len(tail)
		}
		rest = tail
	}
	return len(lit) - 1, len(lit)
}
