package instrument

import (
	"fmt"
	"go/ast"
	"go/token"
	"math/bits"
)

// loop is one loop: a for statement, or a goto that leads back.
type loop struct {
	stmt  ast.Stmt
	polls bool // at each iteration, before anything that it calls
}

// loopsOf finds the loops of a function and lets them poll.
func (r *rewriter) loopsOf(c *code) {
	labels := map[string]token.Pos{}
	c.walk(func(n ast.Node, _ []ast.Node) {
		switch n := n.(type) {
		case *ast.LabeledStmt:
			labels[n.Label.Name] = n.Pos() // a label further on leads ahead, and is not known yet
		case *ast.ForStmt:
			r.loop(c, n, n.Body)
		case *ast.RangeStmt:
			r.loop(c, n, n.Body)
		case *ast.BranchStmt:
			if n.Tok == token.GOTO && labels[n.Label.Name].IsValid() {
				r.jump(c, n)
			}
		}
	})
}

// loop decides where a for loop polls: nowhere when it is short whatever happens; every so many iterations when it counts
// them and they are cheap; otherwise at the head of its body.
func (r *rewriter) loop(c *code, stmt ast.Stmt, body *ast.BlockStmt) {
	r.stats.Loops++
	l := &loop{stmt: stmt}
	c.loops = append(c.loops, l)
	if r.cost(stmt) <= quick {
		return
	}
	if why := c.whyNot(body.Lbrace); why != "" {
		r.leave(c, stmt.Pos(), "loop", why)
		return
	}
	if r.strip(c, stmt, body) {
		r.stats.Strips++
		return
	}
	l.polls = true
	r.stats.LoopPolls++
	r.insert(c.file, body.Lbrace+1, r.poll())
}

// jump lets a goto poll that leads back. At its label there is no place: before the label a poll is passed once, and
// behind it the label would not be that of its statement any more.
func (r *rewriter) jump(c *code, stmt *ast.BranchStmt) {
	r.stats.Loops++
	if why := c.whyNot(stmt.Pos()); why != "" {
		r.leave(c, stmt.Pos(), "loop", why)
		return
	}
	r.stats.LoopPolls++
	r.insert(c.file, stmt.Pos(), r.poll())
}

// strip lets a loop poll every so many iterations, by looking at its own counter. An outer loop around pieces of the
// iterations would save that look too, but has to take apart the condition, by which the compiler proves that indexes are in
// bounds, and every break and continue; and a variable of each iteration would become one of each piece.
//
// The poll is in the last of so many iterations, not the first: a short loop then has none at all.
func (r *rewriter) strip(c *code, stmt ast.Stmt, body *ast.BlockStmt) bool {
	count, ok := r.counterOf(stmt)
	each := max(r.cost(body), 1)
	if !ok || each > stretch/16 {
		return false
	}
	if f, isFor := stmt.(*ast.ForStmt); isFor && r.cost(f.Cond) > stretch/16 {
		return false
	}
	every := int64(1) << (bits.Len(uint(stretch/each)) - 1)
	every = min(every, 1024)
	if count.bits == 8 {
		every = min(every, 64)
	}
	step := max(count.step, -count.step)
	if step > every/2 {
		return false
	}
	test := fmt.Sprintf("%s&%d >= %d", count.name, every-1, every-step)
	if step == 1 {
		test = fmt.Sprintf("%s&%d == %d", count.name, every-1, every-1)
	}
	if count.obj == nil {
		r.nameKey(c.file, stmt.(*ast.RangeStmt), count.name)
	}
	r.insert(c.file, body.Lbrace+1, r.pollIf(test))
	return true
}

// nameKey declares the key of a range loop that has none, or a blank one.
func (r *rewriter) nameKey(f *file, stmt *ast.RangeStmt, name string) {
	if stmt.Key == nil {
		r.insert(f, stmt.Range, name+" := ")
		return
	}
	at := r.offset(stmt.Key.Pos())
	f.edits.replace(at, at+len("_"), name)
}

func (r *rewriter) leave(c *code, p token.Pos, what, why string) {
	r.stats.Left = append(r.stats.Left, Left{Pos: r.set.Position(p), Func: c.name, What: what, Why: why})
}
