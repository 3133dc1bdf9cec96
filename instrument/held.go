package instrument

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// told contains the lines of a file to register with package safepoint, see its type Held.
type told struct {
	held        map[int]hold // by line; the most important one if there are several
	ends, fresh []int
	byHand      []int
}

// toldLines returns the lines of each file that has registered lines.
func (r *rewriter) toldLines() map[string]*told {
	files := map[string]*told{}
	of := func(file string) *told {
		if files[file] == nil {
			files[file] = &told{held: map[int]hold{}}
		}
		return files[file]
	}
	tell := func(c *code, h hold) {
		for i, p := range r.linesOf(h.span) {
			if i == 0 && r.pollsOnlyBefore(c, h.from) {
				continue
			}
			t := of(p.file)
			if h.released == given {
				t.ends = append(t.ends, p.line, p.line)
			} else if known, ok := t.held[p.line]; !ok || h.released < known.released {
				t.held[p.line] = h
			}
		}
	}
	for _, c := range r.codes {
		for _, h := range c.held {
			tell(c, h)
		}
		for _, s := range c.owed {
			tell(c, hold{s, "goroutines that a wait group waits for", byItself})
		}
	}
	for end := range r.ends {
		t := of(end.file)
		t.ends = append(t.ends, end.line, end.line)
	}
	for at := range r.fresh {
		t := of(at.file)
		t.fresh = append(t.fresh, at.line, at.line)
	}
	for at := range r.byHand {
		t := of(at.file)
		t.byHand = append(t.byHand, at.line, at.line)
	}
	return files
}

// pollsOnlyBefore reports whether the function polls on the line of p before p, and nothing after p
// on this line may poll. The poll before a recursion may be on the line of a lock.
func (r *rewriter) pollsOnlyBefore(c *code, p token.Pos) bool {
	at := r.placeOf(p)
	behind := func(q token.Pos) bool { return q > p && r.placeOf(q) == at }
	if !slices.ContainsFunc(c.polls, func(q token.Pos) bool { return q <= p && r.placeOf(q) == at }) || slices.ContainsFunc(c.polls, behind) {
		return false
	}
	only := true
	ast.Inspect(c.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			only = only && !behind(n.Pos())
		case *ast.CallExpr:
			only = only && !(behind(n.Rparen) && r.comesToPoll(n))
		}
		return only
	})
	return only
}

// stretches returns the lines as triples of a first line, a last line, and how the lock is
// released, together with the expression of each lock.
func (t *told) stretches() (lines []int, locks []string) {
	for _, line := range slices.Sorted(maps.Keys(t.held)) {
		h, n := t.held[line], len(lines)
		if n > 0 && lines[n-2] == line-1 && lines[n-1] == int(h.released) && locks[len(locks)-1] == h.what {
			lines[n-2] = line
			continue
		}
		lines, locks = append(lines, line, line, int(h.released)), append(locks, h.what)
	}
	return lines, locks
}

// linesOf returns the lines of a stretch of source as stack traces show them. The stretch may
// contain line directives, as in the output of goyacc and cgo.
func (r *rewriter) linesOf(s span) (all []place) {
	f := r.set.File(s.from)
	last := r.set.PositionFor(s.to, false).Line
	for line := r.set.PositionFor(s.from, false).Line; line <= last; line++ {
		all = append(all, r.placeOf(max(f.LineStart(line), s.from)))
	}
	return all
}

// heldCalls returns the calls that register the package's lines with package safepoint, for polls
// in functions called on these lines. There is at least one call, which registers that the program
// is rewritten.
func (r *rewriter) heldCalls(name string) string {
	files := r.toldLines()
	packages := []string{symbolPath(r.pkg.Path)}
	if name == "main" && packages[0] != name {
		packages = append(packages, name) // name as a program; as a tested package it has its path
	}
	var calls strings.Builder
	for _, pkg := range packages {
		if len(files) == 0 {
			fmt.Fprintf(&calls, "\t%s(%q, \"\", nil, nil, nil, nil)\n", r.name("hold"), pkg)
		}
		for _, file := range slices.Sorted(maps.Keys(files)) {
			t := files[file]
			lines, locks := t.stretches()
			fmt.Fprintf(&calls, "\t%s(%q, %q, %#v, %#v, %#v, %#v)\n", r.name("hold"), pkg, file, lines, locks, merged(t.ends), merged(t.fresh))
			if len(t.byHand) > 0 {
				fmt.Fprintf(&calls, "\t%s(%q, %q, %#v)\n", r.name("byHand"), pkg, file, merged(t.byHand))
			}
		}
	}
	return calls.String()
}

// merged merges pairs of first and last lines into the fewest pairs, in order.
func merged(pairs []int) (all []int) {
	byFirst := [][2]int{}
	for p := range slices.Chunk(pairs, 2) {
		byFirst = append(byFirst, [2]int(p))
	}
	slices.SortFunc(byFirst, func(a, b [2]int) int { return a[0] - b[0] })
	for _, p := range byFirst {
		if n := len(all); n > 0 && p[0] <= all[n-1]+1 {
			all[n-1] = max(all[n-1], p[1])
		} else {
			all = append(all, p[0], p[1])
		}
	}
	return all
}

// symbolPath returns the package's path as in its functions' names: the dots of the last element
// are escaped, so the first dot after it comes before the function.
func symbolPath(path string) string {
	slash := strings.LastIndexByte(path, '/') + 1
	var out strings.Builder
	for i := range len(path) {
		switch b := path[i]; {
		case b <= ' ', b == '.' && i >= slash, b == '%', b == '"', b >= 0x7f:
			fmt.Fprintf(&out, "%%%02x", b)
		default:
			out.WriteByte(b)
		}
	}
	return out.String()
}
