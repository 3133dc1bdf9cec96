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

	// Length is an upper estimate of the gap's time, in the cost units of the rewriting: a
	// nanosecond for a simple operation. It is Unbounded if the text contains no bound.
	Length time.Duration

	// Package is the package of the called function, for kind call. It is "" if the call does not
	// leave its own package.
	Package string
}

// Unbounded is the length of a gap without a bound in the text.
const Unbounded = time.Duration(math.MaxInt64)

// GapKind is the cause of a gap. The kinds are in the order in which unbounded gaps are reported.
type GapKind string

// The kinds of gaps.
const (
	GapLoop      GapKind = "loop"      // it does not poll, or not at each iteration
	GapRecursion GapKind = "recursion" // it should poll, and must not
	GapCgo       GapKind = "cgo"       // a call of C
	GapCall      GapKind = "call"      // into uninstrumented code
	// a callee polls while a lock is held, which is not a safe point
	GapLock GapKind = "lock"
	// a lock held for callers in other packages, where the text does not show it
	GapHeld GapKind = "held"
	// a resource that no deferred call releases: a throw loses it
	GapLost GapKind = "lost"
	GapWait GapKind = "wait" // for a channel or a lock
	GapData GapKind = "data" // one operation, which takes longer with more data
	GapCode GapKind = "code" // from one safe point to the next, on the longest path
)

var gapOrder = []GapKind{GapLoop, GapRecursion, GapCgo, GapCall, GapLock, GapHeld, GapLost, GapWait, GapData, GapCode}

// FunctionGaps are the gaps of one function, the longest first. There is always the longest path
// from one safe point to the next. On it, calls of the package's own functions count with their
// longest path.
//
// An unbounded gap belongs to the function that contains it, and not to its callers.
// Functions called through interfaces and function values have gaps of their own, and so do
// functions of other instrumented packages. The returns from a recursion count once.
type FunctionGaps struct {
	Func string // such as "(*Regexp).run"
	Pos  token.Position
	Gaps []Gap

	Initialises bool // it runs during its package's initialisation, and not in tasks
	Links       Links
	Distance    int // from a task, in calls; computed by users of Links; Unreached
}

// Unreached is the distance of a function that no task reaches, as far as the text shows.
const Unreached = math.MaxInt

// Gaps returns the stretches without safe points in the package as Rewrite returns it, for each
// function with a body, including literals, in source order. Arguments, errors and decisions are
// the same as for Rewrite, but Gaps creates no texts.
func Gaps(p Package, o Options) ([]FunctionGaps, error) {
	r, err := decided(p, o)
	if err != nil {
		return nil, err
	}
	s := survey{r: r, paths: map[*code]path{}}
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

// CompareGaps orders gaps: unbounded gaps first, then by length, the longest first.
func CompareGaps(a, b Gap) int {
	if a.Length == b.Length {
		return cmp.Compare(slices.Index(gapOrder, a.Kind), slices.Index(gapOrder, b.Kind))
	}
	return cmp.Compare(b.Length, a.Length)
}

// survey is one call of Gaps. The rewriter is not embedded: the compiler would write each of its
// methods for survey, too.
type survey struct {
	r *rewriter
	// the longest path of each function; empty while the function is being walked
	paths map[*code]path
}

func (s *survey) gapsOf(c *code) []Gap {
	path := s.longest(c)
	gaps := []Gap{{
		Pos: s.r.set.Position(path.from), Kind: GapCode, Length: time.Duration(path.units),
		Why: fmt.Sprintf("as far as line %d", s.r.set.Position(path.to).Line),
	}}
	add := func(p token.Pos, g Gap) {
		g.Pos = s.r.set.Position(p)
		gaps = append(gaps, g)
	}
	for _, l := range c.left {
		if l.what != "section" {
			add(l.at, Gap{Kind: GapKind(l.what), Why: "it does not poll: " + l.why, Length: s.lengthOfLeft(c, l)})
		}
	}
	lostAt, lost := s.gapsOfLost(c)
	if g, ok := s.r.handedOver(c); ok {
		add(c.typ.Pos(), g)
	}
	for i, at := range lostAt {
		add(at, lost[i])
	}
	for _, l := range c.loops {
		if g, ok := s.ofLoop(c, l); ok {
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
			return length(s.r.cost(loop.stmt))
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

// ofLoop returns the gap of a loop that was not meant to poll at each iteration, or once in a few.
func (s *survey) ofLoop(c *code, l *loop) (g Gap, ok bool) {
	if l.every > mostCopies+1 {
		units := l.cost * int(l.every)
		return Gap{Kind: GapLoop, Why: fmt.Sprintf("it polls every %d iterations", l.every), Length: length(units)}, true
	}
	if units := s.r.cost(l.stmt); !l.polls && units <= quick {
		times, _ := s.r.times(l.stmt)
		return Gap{Kind: GapLoop, Why: fmt.Sprintf("%d iterations at most, which do not poll", times), Length: length(units)}, true
	}
	return Gap{}, false
}
