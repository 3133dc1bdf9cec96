package analyzer

import (
	"fmt"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// edge is how many minutes at the beginning or at the end of an hour a policy may be about in each
// of several hours; an author who names more of them most likely means a time of the day.
const edge = 15

// timeOfDay warns of a time of the day compared by its parts, as clock.hour >= 22 and
// clock.minute >= 30 for half past ten or later: it holds at 22:45, and not at 23:00.
func (a *analysis) timeOfDay() {
	a.p.Root.Any(func(n *ir.Node) bool {
		if cond := a.named(n.A); n.Op == ir.OpIf && cond != nil && cond.Op == ir.OpOr {
			return a.byParts(a.joined(cond, ir.OpOr))
		}
		return n.Op == ir.OpAnd && a.byParts(a.joined(n, ir.OpAnd))
	})
}

// mixedClock warns of clock.minute * 60 + clock.hour, of which the factor belongs to the hour, and
// of clock.hour * 100 + clock.minute compared with a number that no time of the day has, as 260.
func (a *analysis) mixedClock() {
	reads := func(n *ir.Node, id stubs.ID) bool {
		n = a.named(n)
		return n != nil && n.Op == ir.OpRead && a.reads[n.Index].Stub == id
	}
	times := func(n *ir.Node, id stubs.ID, by uint64) bool {
		n = a.named(n)
		is := func(x, y *ir.Node) bool { return reads(x, id) && y.Op == ir.OpConst && y.Imm == by }
		return n != nil && n.Op == ir.OpMul && (is(n.A, n.B) || is(n.B, n.A))
	}
	sum := func(n *ir.Node, first, then stubs.ID, by uint64) bool {
		n = a.named(n)
		return n != nil && n.Op == ir.OpAdd && (times(n.A, first, by) && reads(n.B, then) || times(n.B, first, by) && reads(n.A, then))
	}
	a.p.Root.Any(func(n *ir.Node) bool {
		switch {
		case n.Op == ir.OpAdd && sum(n, stubs.ClockMinute, stubs.ClockHour, 60):
			a.warn(n, "write clock.hour * 60 + clock.minute", "%s is not a time of the day: an hour has 60 minutes", a.text(n))
		case n.B == nil || n.Type != stubs.Bool:
		case n.B.Op == ir.OpConst && n.B.Imm%100 >= 60 && sum(n.A, stubs.ClockHour, stubs.ClockMinute, 100):
			a.warn(n, "write minutes of 0 to 59, as in 230 for half past two", "%s is about no time of the day: %d has %d minutes", a.text(n), n.B.Imm, n.B.Imm%100)
		}
		return false
	})
}

// oneDay warns of clock.weekday > 5 and of its opposite, if the policy compares the day with
// nothing else: they are only about Saturday, and an author of > means several days.
func (a *analysis) oneDay() {
	var only *ir.Node
	reads, uses := 0, 0
	days := interval{lo: 0, hi: 6}
	a.p.Root.Any(func(n *ir.Node) bool {
		switch read := a.named(n); {
		case n.Op == ir.OpLet || n.A != nil && n.Type != stubs.Bool:
		case n.A != nil && a.clockBound(condition{n, true}, stubs.ClockWeekday, &days):
			only = n
		case read == nil || read.Op != ir.OpRead || a.reads[read.Index].Stub != stubs.ClockWeekday:
		case n == read:
			reads++
		default:
			uses++
		}
		return false
	})
	if only == nil || reads != 1 || uses > 1 {
		return
	}
	switch days {
	case interval{lo: 6, hi: 6}:
		a.warn(only, "write clock.weekday in [0, 6] for the weekend, or == 6", "%s is true on Saturday alone: Sunday is 0", a.text(only))
	case interval{lo: 0, hi: 5}:
		a.warn(only, "write clock.weekday in 1..5 for Monday to Friday, or != 6", "%s is false on Saturday alone: Sunday is 0", a.text(only))
	}
}

// joined returns the operands of a chain of "and", or the opposites of those of a chain of "or".
func (a *analysis) joined(n *ir.Node, op ir.Op) []condition {
	if n.Op == op {
		return append(a.joined(n.A, op), a.joined(n.B, op)...)
	}
	return []condition{{n, op == ir.OpAnd}}
}

// byParts warns of conditions that bound the hour and the minute on the same side.
func (a *analysis) byParts(conds []condition) bool {
	hour, minute := interval{lo: 0, hi: 23}, interval{lo: 0, hi: 59}
	var ofHour, ofMinute *ir.Node
	for _, c := range conds {
		if a.clockBound(c, stubs.ClockHour, &hour) {
			ofHour = c.Node
		}
		if a.clockBound(c, stubs.ClockMinute, &minute) {
			ofMinute = c.Node
		}
	}
	if ofHour == nil || ofMinute == nil || hour.lo >= hour.hi {
		return false
	}
	var left, time string
	switch {
	case hour.lo > 0 && minute.hi == 59 && edge <= minute.lo && minute.lo <= 60-edge && !a.hasHours(hour.lo+1, 23):
		left, time = fmt.Sprintf("first %d minutes of each later hour", minute.lo), fmt.Sprintf(">= %d * 60 + %d", hour.lo, minute.lo)
	case hour.hi < 23 && minute.lo == 0 && edge-1 <= minute.hi && minute.hi < 60-edge && !a.hasHours(0, hour.hi-1):
		left, time = fmt.Sprintf("last %d minutes of each earlier hour", 59-minute.hi), fmt.Sprintf("<= %d * 60 + %d", hour.hi, minute.hi)
	default:
		return false
	}
	outer := &ir.Node{Pos: min(ofHour.Pos, ofMinute.Pos), End: max(ofHour.End, ofMinute.End)}
	a.warn(outer, "write clock.hour * 60 + clock.minute "+time, "%s is not a time of the day: it leaves out the %s", a.text(outer), left)
	return true
}

// hasHours reports whether a comparison in the policy holds for these hours, and no others: as the
// first in clock.hour > 22 or clock.hour >= 22 and clock.minute >= 30.
func (a *analysis) hasHours(first, last int64) bool {
	return a.p.Root.Any(func(n *ir.Node) bool {
		hours := interval{lo: 0, hi: 23}
		return n.Type == stubs.Bool && a.clockBound(condition{n, true}, stubs.ClockHour, &hours) && hours == interval{lo: first, hi: last}
	})
}

// clockBound narrows the values of a stub of the clock by a condition that compares it with a
// constant, for less or greater. It reports whether the condition does.
func (a *analysis) clockBound(c condition, id stubs.ID, values *interval) bool {
	n := a.named(c.Node)
	if n == nil || !isOrdering(n.Op) {
		return false
	}
	x, y := a.named(n.A), a.named(n.B)
	if x == nil || y == nil {
		return false
	}
	if x.Op == ir.OpConst {
		x, y = y, x
	}
	if x.Op != ir.OpRead || y.Op != ir.OpConst {
		return false
	}
	bound, beyond := int64(y.Imm), int64(0)
	if equal := n.Op == ir.OpLe || n.Op == ir.OpGe; equal != c.holds {
		beyond = 1
	}
	switch a.slopeOf(condition{n, c.holds}, source{stub: id}) {
	case rising:
		values.lo = max(values.lo, bound+beyond)
	case falling:
		values.hi = min(values.hi, bound-beyond)
	default:
		return false
	}
	return true
}

// unzoned returns a warning about the first policy that reads the hour or the day without a zone:
// the hours are then those of UTC, wherever the server is. An author who means UTC writes it.
func unzoned(members []Member) []Remark {
	for _, m := range members {
		if m.Spec.Zone != "" {
			continue
		}
		for _, r := range m.Verified.program.Reads {
			if r.Stub == stubs.ClockHour || r.Stub == stubs.ClockWeekday {
				return []Remark{m.remark(m.readAt(r), "write zone: Europe/Berlin into the document, or zone: UTC if that is meant", "%v is that of UTC, because no zone is declared", r)}
			}
		}
	}
	return nil
}
