package instrument

import (
	"cmp"
	"go/ast"
	"go/token"
	"math/bits"
	"slices"
	"strings"
)

// hold is a stretch of source in which a function holds a lock. Tasks are not suspended there.
type hold struct {
	span
	what string // the expression of the lock
	released
}

// released is how a lock will be released. Package safepoint has the same numbers.
type released int

const (
	// byItself: not if a throw unwinds the function.
	byItself released = iota
	// byDefer: by a deferred call, so a throw may pass if the state of the guarded data does not
	// matter.
	byDefer
	// inReceiver: by a deferred call, and it is a lock of the method's receiver, which may be lost.
	inReceiver
	// unharmed: by a deferred call, and the guarded data is only read.
	unharmed
	// given: it is free, and will be released again. Nothing is thrown there, but a task may be
	// suspended.
	given
)

// holding describes the locks that a function may hold at a place: for each lock, its possible
// states.
type holding struct {
	bare    uint64 // locked, and no deferred call will release it
	covered uint64 // locked, and a deferred call will release it
	due     uint64 // free, and will be released again: that would end the program
	free    uint64
}

func (h holding) any() bool { return h.bare|h.covered|h.due != 0 }

func (h holding) or(other holding) holding {
	return holding{h.bare | other.bare, h.covered | other.covered, h.due | other.due, h.free | other.free}
}

// move moves the lock of the bit from two states to two other states.
func move(bit uint64, from, to, from2, to2 *uint64) {
	*to |= *from & bit
	*from &^= bit
	*to2 |= *from2 & bit
	*from2 &^= bit
}

func (h *holding) acquire(bit uint64) { move(bit, &h.free, &h.bare, &h.due, &h.covered) }

func (h *holding) release(bit uint64) { move(bit, &h.bare, &h.free, &h.covered, &h.due) }

func (h *holding) pin(bit uint64) { move(bit, &h.bare, &h.covered, &h.free, &h.due) }

// hold returns the lock held in the span.
func (f *lockFlow) hold(s span, h holding) hold {
	switch {
	case h.bare != 0 || h.covered&f.unsure != 0:
		return hold{s, f.namesOf(h.bare | h.covered&f.unsure), byItself}
	case h.due != 0 && h.covered == 0:
		return hold{s, f.namesOf(h.due), given}
	case h.due != 0:
		return hold{s, f.namesOf(h.covered), byItself}
	case h.covered&^f.reads == 0:
		return hold{s, f.namesOf(h.covered), unharmed}
	case h.covered&^(f.reads|f.own) == 0:
		return hold{s, f.namesOf(h.covered), inReceiver}
	}
	return hold{s, f.namesOf(h.covered), byDefer}
}

// namesOf returns the expressions of the locks, in the order of the text.
func (f *lockFlow) namesOf(locks uint64) string {
	var names []string
	for ; locks != 0; locks &= locks - 1 {
		names = append(names, f.names[1<<bits.TrailingZeros64(locks)])
	}
	return strings.Join(names, ", ")
}

// united merges stretches into the fewest stretches that cover the same places.
func united(held []hold) (all []hold) {
	slices.SortStableFunc(held, func(a, b hold) int { return cmp.Compare(a.from, b.from) })
	for _, h := range held {
		if n := len(all); n > 0 && h.from <= all[n-1].to && h.what == all[n-1].what && h.released == all[n-1].released {
			all[n-1].to = max(all[n-1].to, h.to)
		} else {
			all = append(all, h)
		}
	}
	return all
}

// distrust treats locks as released by no deferred call if the function calls a function of the
// package that may have released them in the meantime: after a throw they would be released twice,
// and that ends the program.
func (r *rewriter) distrust() {
	known := map[*code]bool{}
	for _, c := range r.codes {
		for i := range c.held {
			if h := &c.held[i]; h.released != given && r.callsReleaser(c, known) {
				h.released = byItself
			}
		}
	}
}

// callsReleaser reports whether the function calls a function that releases a caller's lock.
// Deferred calls do not count.
func (r *rewriter) callsReleaser(c *code, known map[*code]bool) (found bool) {
	if found, ok := known[c]; ok {
		return found
	}
	known[c] = false // for recursion
	c.walk(func(n ast.Node, stack []ast.Node) {
		if call, ok := n.(*ast.CallExpr); ok && !isDeferred(stack) {
			target, to, _ := r.callee(call)
			found = found || target == own && to != nil && (to.releases && !isReleaser(call) || r.callsReleaser(to, known))
		}
	})
	known[c] = found
	return found
}

// isReleaser reports whether the call is a release of a lock by its name.
func isReleaser(call *ast.CallExpr) bool {
	c, ok := lockCallOf(call)
	return ok && !c.acquires
}

// heldAt returns the most important lock that the function holds at p, or nil.
func (c *code) heldAt(p token.Pos) (worst *hold) {
	for i := range c.held {
		if h := &c.held[i]; h.has(p) && (worst == nil || h.released < worst.released) {
			worst = h
		}
	}
	return worst
}
