package instrument

import (
	"fmt"
	"go/token"
	"go/types"
	"go/version"
)

// piece contains what the text around a piece of a loop depends on.
type piece struct {
	i        string // the counter
	step     int64  // its increase in a piece
	past     string // the comparison with the first value that is out of range, or ""
	first    string // a variable with the counter's first value, or the value
	constant bool   // first is the value
	limit    string // the expression that the loop's condition compares with, or ""
	cmp      token.Token
	wraps    bool   // the end of a piece may be out of the type's range
	breaks   bool   // a break leaves the loop
	counts   bool   // the functions min and max exist
	before   string // what stands between the poll and the piece
}

// around returns the text after the init statement, or after the keyword if the loop declares
// nothing, up to the brace before the poll; and the text that closes it, after the pieces.
func (r *rewriter) around(p piece, declares bool) (open, end string) {
	again := "" // the condition before each piece
	if p.limit != "" && !p.breaks {
		again = fmt.Sprintf("%s %s %s", p.i, p.cmp, p.limit)
	}
	switch {
	case declares && p.past != "" && !p.constant:
		if again != "" {
			again += " "
		}
		return fmt.Sprintf("; ; { %s := %s; for %s{", p.first, p.i, again), "}; break }"
	case declares:
		return fmt.Sprintf("; %s; {", again), "}"
	case p.past != "":
		return fmt.Sprintf(" %s := %s; %s; {", p.first, p.i, again), "}"
	}
	return " {", "}" // a limit without an end does not exist
}

// head returns the text before the inner loop.
func (r *rewriter) head(c *code, p piece) string {
	text := " " + r.poll(c) + p.before
	if p.past != "" {
		text += fmt.Sprintf(" if %s %s %s { break };", p.i, p.past, p.first)
	}
	if p.limit != "" && !p.breaks {
		return text + " " + r.pieceEnd(p) + " "
	}
	m, n := r.name("m"), r.name("n")
	text += fmt.Sprintf(" %s := %s;", m, sum(p.i, p.step))
	if p.limit == "" {
		return text + " "
	}
	text += fmt.Sprintf(" %s := %s;", n, m)
	if p.cmp == token.GEQ {
		text += fmt.Sprintf(" %s++;", n)
	}
	if p.wraps {
		text += fmt.Sprintf(" if %s %s %s { %s = %s };", m, p.past, p.i, n, p.limit)
	}
	return text + fmt.Sprintf(" if %s %s %s { %s = %s }; ", n, p.further(), p.limit, n, p.limit)
}

// pieceEnd returns the text that computes the end of a piece, at most the limit.
func (r *rewriter) pieceEnd(p piece) string {
	n, step := r.name("n"), p.step
	if p.cmp == token.GEQ {
		step++ // the piece includes its end
	}
	if p.counts && !p.wraps {
		least := "min"
		if step < 0 {
			least = "max"
		}
		return fmt.Sprintf("%s := %s(%s, %s);", n, least, sum(p.i, step), p.limit)
	}
	wraps := ""
	if p.wraps {
		wraps = fmt.Sprintf("%s %s %s || ", n, p.past, p.i)
	}
	return fmt.Sprintf("%s := %s; if %s%s %s %s { %s = %s };", n, sum(p.i, step), wraps, n, p.further(), p.limit, n, p.limit)
}

// further returns the comparison of the end of a piece with the limit, if the end is beyond it.
func (p piece) further() string {
	if p.past == ">" {
		return "<"
	}
	return ">"
}

// sum returns the text of i plus a constant, valid for unsigned types too.
func sum(i string, n int64) string {
	if n < 0 {
		return fmt.Sprintf("%s - %d", i, -n)
	}
	return fmt.Sprintf("%s + %d", i, n)
}

// foot returns the text after the inner loop.
func (r *rewriter) foot(p piece) string {
	if p.limit != "" && !p.breaks {
		return " "
	}
	return fmt.Sprintf("; if %s != %s { break } ", p.i, r.name("m"))
}

// hasMinMax reports whether min and max are the predeclared functions at p.
func (r *rewriter) hasMinMax(p token.Pos) bool {
	if r.types == nil || r.pkg.GoVersion != "" && version.Compare(r.pkg.GoVersion, "go1.21") < 0 {
		return false
	}
	scope := r.types.Scope().Innermost(p)
	if scope == nil {
		return false
	}
	for _, name := range []string{"min", "max"} {
		if _, obj := scope.LookupParent(name, p); obj != types.Universe.Lookup(name) {
			return false
		}
	}
	return true
}
