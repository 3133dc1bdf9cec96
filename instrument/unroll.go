package instrument

import (
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"strings"
)

// unrolled is a loop that polls only once in several iterations, because its body is written
// several times.
type unrolled struct {
	file *file
	poll int // the index of the poll among the file's edits
	stmt *ast.ForStmt
	text string // one more iteration
	more int    // how often the text is written
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
// share them. Its code makes no call of unknown length, so no cycle of the call graph needs the
// poll of each iteration.
func (r *rewriter) unroll(c *code, l *loop) {
	stmt, ok := l.stmt.(*ast.ForStmt)
	if !ok {
		return
	}
	text, more := r.copyOf(c, stmt)
	if more == 0 {
		return
	}
	l.cost, l.every = r.cost(stmt.Body), int64(more)+1
	r.unrolls = append(r.unrolls, unrolled{c.file, len(c.file.edits), stmt, text, more})
}

// copyOf returns the text of an iteration with its post statement and the next condition, and how
// often it may be written before the iteration that polls. Without a poll, these iterations cost
// no more than a loop that never polls.
func (r *rewriter) copyOf(c *code, stmt *ast.ForStmt) (text string, more int) {
	cost := r.cost(stmt.Body) + r.cost(stmt.Cond) + r.cost(stmt.Post)
	if c.careful >= plainly || cost > quick/2 || !r.isOutOfLine(c) || jumpsAhead(stmt.Body) || closes(stmt) {
		return "", 0
	}
	if init, ok := stmt.Init.(*ast.AssignStmt); ok && init.Tok == token.DEFINE && r.keeps(stmt) {
		return "", 0
	}
	w := &copier{r: r, src: c.file.src, home: r.set.Position(stmt.Body.Lbrace)}
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
	if w.failed {
		return "", 0
	}
	return w.out.String(), min(mostCopies, longestCopy/(w.bytes+1), quick/cost-1)
}

// isOutOfLine reports whether the compiler certainly does not inline the function with a poll.
func (r *rewriter) isOutOfLine(c *code) bool {
	return !r.pollsInline(c) || c.decl != nil && r.leastUnits(c)+inlinePoll > inlineBudget
}

// writeUnrolled writes the copies. It needs all other edits, and leaves a loop with a poll at each
// iteration if one changes the loop, because the copies would lack it.
func (r *rewriter) writeUnrolled() {
	for _, u := range r.unrolls {
		from, to := r.offset(u.stmt.For), r.offset(u.stmt.End())
		inside := 0
		for _, e := range u.file.edits {
			if e.end > from && e.at < to {
				inside++
			}
		}
		if poll := &u.file.edits[u.poll]; inside == 1 {
			poll.text = " " + strings.Repeat(u.text, u.more) + poll.text
		}
	}
}

// copier writes source text once more, in one line, with directives that keep the numbers of the
// lines in stack traces.
type copier struct {
	r      *rewriter
	src    []byte
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

// copy writes the tokens between two places, without comments. A line break that ends a statement
// becomes a semicolon.
func (w *copier) copy(from, to token.Pos) {
	start := w.r.offset(from)
	text := w.src[start:w.r.offset(to)]
	file := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	between := ""
	for {
		at, tok, lit := s.Scan()
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
