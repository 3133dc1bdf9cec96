package instrument

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
)

// tail is a poll before a return statement that calls a function of the package's cycles.
type tail struct {
	file *file
	poll int // the index of the poll among the file's edits
	stmt *ast.ReturnStmt
}

// longestTail is the number of bytes of a return statement that may be written twice.
const longestTail = 100

// returnBehind returns the return statement at p if it makes one of the calls, or nil. A function
// with deferred calls has none: its return statements get other lines.
func (c *code) returnBehind(p token.Pos, calls []token.Pos) (stmt *ast.ReturnStmt) {
	if len(c.defers) > 0 || c.careful >= plainly || !slices.ContainsFunc(calls, func(call token.Pos) bool { return call >= p }) {
		return nil
	}
	c.walk(func(n ast.Node, _ []ast.Node) {
		if ret, ok := n.(*ast.ReturnStmt); ok && ret.Pos() == p && countIn(ret, calls) > 0 && !closes(ret) {
			stmt = ret
		}
	})
	return stmt
}

// writeTails changes polls into a form in which the way without a request does not jump:
//
//	if raised() { answerNow() }; return f(x)
//	for !raised() { return f(x) }; answerNow(); return f(x)
//
// The loop runs at most once; it tells the compiler that the first way is the likely one. In the
// first form both ways join. The compiler places a block after all blocks that lead to it, so the
// call of the slow path is in the way, and each poll jumps over it: in fib, that takes as long as
// the recursion's own two jumps. It needs all other edits, and does not change a statement that has
// one, because the copy would lack it.
func (r *rewriter) writeTails() {
	for _, t := range r.tails {
		from, to := r.offset(t.stmt.Pos()), r.offset(t.stmt.End())
		text := t.file.src[from:to]
		edited := slices.ContainsFunc(t.file.edits, func(e edit) bool { return e.end > from && e.at < to })
		if !edited && len(text) <= longestTail && !bytes.ContainsRune(text, '\n') {
			t.file.edits[t.poll].text = fmt.Sprintf("for !%s() { %s }; %s(); ", r.name("raised"), text, r.name("answerNow"))
		}
	}
}
