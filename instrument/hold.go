package instrument

import (
	"cmp"
	"go/token"
	"math/bits"
	"slices"
	"strings"
)

// hold is a stretch of source where a function holds something. Nobody is suspended there.
type hold struct {
	span
	what string // the expression of the lock
	released
}

// released says how what is held will be released. Package safepoint has the same numbers.
type released int

const (
	// byItself: not if a throw unwinds the function.
	byItself released = iota
	// byDefer: by a deferred call, so a throw may pass where what the lock guards does not matter.
	byDefer
	// inReceiver: by a deferred call, and it is a lock of the method's receiver, which may be lost.
	inReceiver
	// unharmed: by a deferred call, and what the lock guards is only read.
	unharmed
	// given: it is free, and will be released once more. Nothing is thrown, and a task may be
	// suspended.
	given
)

// hold returns what is held in the span.
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

// united returns the same places as the fewest stretches.
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

// heldAt returns what the function holds at p that matters most, or nil.
func (c *code) heldAt(p token.Pos) (worst *hold) {
	for i := range c.held {
		if h := &c.held[i]; h.has(p) && (worst == nil || h.released < worst.released) {
			worst = h
		}
	}
	return worst
}
