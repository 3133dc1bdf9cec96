package instrument

import (
	"go/token"
	"path/filepath"
)

// Line is a line of a package's source, or of a file that its line directives name.
type Line struct {
	File string // without its folder
	Line int
}

// How functions are rewritten that the compiler has refused.
const (
	plainly = 1 // loops poll at each iteration, and nothing runs in pieces
	not     = 2 // they do not poll
)

// beCareful finds the functions that contain a line of Options.Mistaken. Each refusal makes their
// rewriting simpler.
func (r *rewriter) beCareful() {
	refused := map[place]int{}
	for _, l := range r.opt.Mistaken {
		refused[place{l.File, l.Line}]++
	}
	if len(refused) == 0 {
		return
	}
	for _, c := range r.codes {
		if c.decl != nil {
			c.careful = r.mostIn(refused, c.decl.Pos(), c.decl.End())
		}
	}
	for _, c := range r.codes {
		for _, outer := range r.codes {
			if outer.decl != nil && outer.file == c.file && outer.decl.Pos() <= c.body.Pos() && c.body.End() <= outer.decl.End() {
				c.careful = outer.careful
			}
		}
		if c.careful >= not && c.exempt == "" {
			c.exempt = "the compiler refuses it with polls"
		}
	}
}

// mostIn returns the largest number of refusals of a line between the places.
func (r *rewriter) mostIn(refused map[place]int, from, to token.Pos) (most int) {
	first, last := r.set.Position(from), r.set.Position(to)
	for at, times := range refused {
		if at.file == filepath.Base(first.Filename) && first.Line <= at.line && at.line <= last.Line {
			most = max(most, times)
		}
	}
	return most
}
