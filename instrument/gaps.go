package instrument

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"math"
	"slices"
	"time"
)

// Gap is a stretch of a function's code without a safe point.
type Gap struct {
	Pos  token.Position
	Kind GapKind
	Why  string

	// Length estimates how long it takes at most, from the costs by which the rewriting decides: a
	// nanosecond for a simple operation. Unbounded, if nothing in the text bounds it.
	Length time.Duration

	// Package is that of the function called, of kind call; "" where the call does not leave its
	// own.
	Package string
}

// Unbounded is the length of what no text bounds.
const Unbounded = time.Duration(math.MaxInt64)

// GapKind says what makes a gap. The kinds are in the order in which gaps without bound are
// reported.
type GapKind string

// The kinds of gaps.
const (
	GapLoop      GapKind = "loop"      // it does not poll, or not at each iteration
	GapRecursion GapKind = "recursion" // it should poll, and must not
	GapCgo       GapKind = "cgo"       // a call of C
	GapCall      GapKind = "call"      // into code that is not instrumented
	GapLock      GapKind = "lock"      // what is called while a lock is held polls, and is no safe point
	GapHeld      GapKind = "held"      // a lock that callers in other packages hold, which their text does not show
	GapWait      GapKind = "wait"      // for a channel or a lock
	GapData      GapKind = "data"      // one operation, as long as its data
	GapCode      GapKind = "code"      // from one safe point to the next, all that runs on the longest way
)

var gapOrder = []GapKind{GapLoop, GapRecursion, GapCgo, GapCall, GapLock, GapHeld, GapWait, GapData, GapCode}

// FunctionGaps are the gaps of one function, the longest first. There is at least the longest way
// from one safe point to the next, where the function's calls of the package's own functions count
// with their longest.
//
// A gap without bound belongs to the function in whose text it is, and not to those that call it.
// What is called through interfaces and function values has gaps of its own, and so do functions of
// other packages that are instrumented. The way back out of a recursion counts once.
type FunctionGaps struct {
	Func string // such as "(*Regexp).run"
	Pos  token.Position
	Gaps []Gap

	Initialises bool // it runs while its package is initialised, and not in tasks
	Links       Links
	Distance    int // from a task, in calls, for those who follow the links; Unreached
}

// Unreached is the distance of what no task comes to, as far as the text tells.
const Unreached = math.MaxInt

// Gaps says where the package as Rewrite returns it has no safe points, for each function with a
// body, literals included, in the order of the source. Arguments and errors are those of Rewrite,
// and so are the decisions: no file is written, but all is decided.
func Gaps(p Package, o Options) ([]FunctionGaps, error) {
	r, err := decided(p, o)
	if err != nil {
		return nil, err
	}
	s := survey{rewriter: r, paths: map[*code]path{}}
	all := make([]FunctionGaps, 0, len(r.codes))
	for _, c := range r.codes {
		if isGlue(c) {
			continue
		}
		gaps := s.gapsOf(c)
		slices.SortStableFunc(gaps, CompareGaps)
		all = append(all, FunctionGaps{
			Func: c.name, Pos: r.set.Position(c.typ.Pos()), Gaps: gaps, Links: s.linksOf(c), Initialises: initialises(c), Distance: Unreached,
		})
	}
	return all, nil
}

// CompareGaps orders gaps: those without bound first, then the longest.
func CompareGaps(a, b Gap) int {
	if a.Length == b.Length {
		return cmp.Compare(slices.Index(gapOrder, a.Kind), slices.Index(gapOrder, b.Kind))
	}
	return cmp.Compare(b.Length, a.Length)
}

// survey is one call of Gaps.
type survey struct {
	*rewriter
	paths map[*code]path // the longest of each function; of one that is being walked, empty
}

func (s *survey) gapsOf(c *code) []Gap {
	path := s.longest(c)
	gaps := []Gap{{
		Pos: s.set.Position(path.from), Kind: GapCode, Length: time.Duration(path.units),
		Why: fmt.Sprintf("as far as line %d", s.set.Position(path.to).Line),
	}}
	add := func(p token.Pos, g Gap) {
		g.Pos = s.set.Position(p)
		gaps = append(gaps, g)
	}
	for _, l := range c.left {
		if l.what != "section" {
			add(l.at, Gap{Kind: GapKind(l.what), Why: "it does not poll: " + l.why, Length: s.lengthOfLeft(c, l)})
		}
	}
	if g, ok := s.handedOver(c); ok {
		add(c.typ.Pos(), g)
	}
	for _, l := range c.loops {
		if g, ok := s.ofLoop(l); ok {
			add(l.stmt.Pos(), g)
		}
		if g, ok := s.loopUnderLock(c, l); ok {
			add(l.stmt.Pos(), g)
		}
	}
	c.walk(func(n ast.Node, stack []ast.Node) {
		if g, ok := s.ofNode(n, stack); ok {
			add(n.Pos(), g)
		} else if g, ok := s.underLock(c, n); ok {
			add(n.Pos(), g)
		}
	})
	return gaps
}

func (s *survey) lengthOfLeft(c *code, l left) time.Duration {
	for _, loop := range c.loops {
		if loop.stmt.Pos() == l.at {
			return length(s.cost(loop.stmt))
		}
	}
	return Unbounded
}

func length(units int) time.Duration {
	if units >= endless {
		return Unbounded
	}
	return time.Duration(units)
}

// ofLoop returns the gap of a loop that was not to poll at each iteration.
func (s *survey) ofLoop(l *loop) (g Gap, ok bool) {
	if l.every > 0 {
		units := s.cost(bodyOf(l.stmt)) * int(l.every)
		return Gap{Kind: GapLoop, Why: fmt.Sprintf("it polls every %d iterations", l.every), Length: length(units)}, true
	}
	if units := s.cost(l.stmt); !l.polls && units <= quick {
		times, _ := s.times(l.stmt)
		return Gap{Kind: GapLoop, Why: fmt.Sprintf("%d iterations at most, which do not poll", times), Length: length(units)}, true
	}
	return Gap{}, false
}
