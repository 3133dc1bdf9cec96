package instrument

import (
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// unrolled is a loop that polls only once in several iterations, because its body is written
// several times.
type unrolled struct {
	file *file
	poll int // the index of the poll among the file's edits
	stmt *ast.ForStmt
	more int // how often one more iteration is written
}

// The most iterations before the one that polls, and the most bytes of source for them.
const (
	mostCopies  = 3
	longestCopy = 240
)

// unroll makes a short loop that is not split poll only once in up to four iterations:
//
//	for cond; post { POLL; body }
//	for cond; post { { body }; post; if !(cond) { break }; …; POLL; body }
//
// A poll takes as long as one or two of the loop's own instructions. Many such loops end after few
// iterations, and then do not poll at all. A break and a return mean the same in each body; a
// continue would pass by the poll. The loop must not keep its variables, because several iterations
// share them. Its code makes no call of unknown length, except in an inner loop that polls before
// it, so no cycle of the call graph needs the poll of each iteration.
func (r *rewriter) unroll(c *code, l *loop) {
	stmt, ok := l.stmt.(*ast.ForStmt)
	if !ok {
		return
	}
	more := r.copies(c, stmt)
	if more == 0 {
		return
	}
	l.cost, l.every = r.costOfIteration(c, stmt.Body), int64(more)+1
	r.unrolls = append(r.unrolls, unrolled{c.file, len(c.file.edits), stmt, more})
}

// copies returns how often an iteration may be written before the iteration that polls. Without a
// poll, these iterations cost no more than a loop that never polls.
func (r *rewriter) copies(c *code, stmt *ast.ForStmt) int {
	cost := r.costOfIteration(c, stmt.Body) + r.cost(stmt.Cond) + r.cost(stmt.Post)
	if c.careful >= plainly || cost > quick/2 || !r.isOutOfLine(c) || jumpsAhead(stmt.Body) || closes(stmt) {
		return 0
	}
	if init, ok := stmt.Init.(*ast.AssignStmt); ok && init.Tok == token.DEFINE && r.keeps(stmt) {
		return 0
	}
	w := r.copyOf(c.file, stmt, nil)
	if w.failed {
		return 0
	}
	return min(mostCopies, longestCopy/(w.bytes+1), quick/cost-1)
}

// copyOf writes an iteration with its post statement and the next condition, and with the edits of
// the loop.
func (r *rewriter) copyOf(f *file, stmt *ast.ForStmt, inside edits) *copier {
	w := &copier{r: r, src: f.src, edits: inside, home: r.set.Position(stmt.Body.Lbrace)}
	w.line = w.home.Line
	w.write("{")
	w.copy(stmt.Body.Lbrace+1, stmt.Body.Rbrace)
	w.write("};")
	if stmt.Post != nil {
		w.copy(stmt.Post.Pos(), stmt.Post.End())
		w.write(";")
	}
	if stmt.Cond != nil {
		w.write("if !(")
		w.copy(stmt.Cond.Pos(), stmt.Cond.End())
		w.write(") { break };")
	}
	w.goTo(r.set.Position(stmt.Body.Lbrace + 1))
	return w
}

// isOutOfLine reports whether the compiler certainly does not inline the function with a poll.
func (r *rewriter) isOutOfLine(c *code) bool {
	return !r.pollsInline(c) || c.decl != nil && r.leastUnits(c)+inlinePoll > inlineBudget
}

// writeUnrolled writes the copies. It needs all other edits. The copies contain what they insert in
// the loop, such as the polls of inner loops. It leaves a loop with a poll at each iteration if one
// replaces text, or names another line.
func (r *rewriter) writeUnrolled() {
	for _, u := range slices.Backward(r.unrolls) { // inner loops first
		from, to := r.offset(u.stmt.For), r.offset(u.stmt.End())
		var inside edits
		fit := true
		for i, e := range u.file.edits {
			if i != u.poll && e.end > from && e.at < to {
				inside = append(inside, e)
				fit = fit && e.at == e.end && !strings.Contains(e.text, "/*line")
			}
		}
		if w := r.copyOf(u.file, u.stmt, inside); fit && !w.failed {
			poll := &u.file.edits[u.poll]
			poll.text = " " + strings.Repeat(w.out.String(), u.more) + poll.text
		}
	}
}

// copier writes source text once more, in one line, with directives that keep the numbers of the
// lines in stack traces.
type copier struct {
	r      *rewriter
	src    []byte
	edits  edits          // what to insert
	home   token.Position // of the text around the copy
	line   int            // the current line
	bytes  int            // of source in the tokens so far
	out    strings.Builder
	failed bool // the text cannot be copied
}

func (w *copier) write(text string) { w.out.WriteString(text) }

// goTo makes the next token count as one at the position.
func (w *copier) goTo(p token.Position) {
	w.failed = w.failed || p.Filename != w.home.Filename
	if p.Line != w.line {
		w.line = p.Line
		fmt.Fprintf(&w.out, "/*line :%d:%d*/", p.Line, max(p.Column, 1))
	}
}

// editsIn returns the edits of a part of the text, in order.
func (w *copier) editsIn(from, to int) edits {
	inside := slices.DeleteFunc(slices.Clone(w.edits), func(e edit) bool { return e.at < from || e.at > to })
	slices.SortStableFunc(inside, func(a, b edit) int { return a.at - b.at })
	return inside
}

// copy writes the tokens between two places, without comments. A line break that ends a statement
// becomes a semicolon.
func (w *copier) copy(from, to token.Pos) {
	start := w.r.offset(from)
	text := w.src[start:w.r.offset(to)]
	inside := w.editsIn(start, start+len(text))
	file := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	between := ""
	for {
		at, tok, lit := s.Scan()
		for ; len(inside) > 0 && inside[0].at <= start+file.Offset(at); inside = inside[1:] {
			w.write(between + inside[0].text)
			between = " "
		}
		switch {
		case tok == token.EOF:
			return
		case tok == token.SEMICOLON:
			between = ";"
			continue
		case tok == token.ILLEGAL || strings.Contains(lit, "\n"):
			w.failed = true
			return
		case lit == "":
			lit = tok.String()
		}
		w.write(between)
		between = " "
		w.goTo(w.r.set.Position(from + token.Pos(file.Offset(at))))
		w.write(lit)
		w.bytes += len(lit)
	}
}
