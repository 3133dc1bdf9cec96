package analyzer

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// shortWindow is the window under which a growth per second is close to a growth within the window.
const shortWindow = 5 * time.Second

// countedRates warns of rate("failures", duration("1m")) >= 5 where five failures a minute are
// meant: a rate is for each second. Its author most likely means a count if a reason names the
// number and the window, or if a state of failures is compared with a whole number.
func (a *analysis) countedRates() (all []Warning) {
	a.p.Root.Any(func(n *ir.Node) bool {
		x, limit, r, ok := a.rateAbove(n)
		if !ok {
			return false
		}
		number := math.Float64frombits(limit.Imm)
		if number < 1 || number != math.Trunc(number) {
			return false
		}
		if len(a.perSecond()) > 0 {
			return true // which has a warning
		}
		whole, or := countsTrouble(r.Key) && r.Window >= shortWindow && !strings.ContainsAny(a.text(limit), ".e"), fmt.Sprintf("; or %s.0, if %[1]s each second are meant", shortly(number))
		for _, reason := range a.p.Reasons {
			if r.Window > time.Second && saysWithin(reason, number, r.Window) {
				whole, or = true, ""
			}
		}
		if whole {
			more := number // a rate within a window is a little less than the number of events in it
			if n.Op == ir.OpGe || n.Op == ir.OpLe {
				more--
			}
			guard := ""
			if countsTrouble(r.Key) && more > 0 {
				guard = fmt.Sprintf(" and state.%s > %s", r.Key, shortly(more)) // see firstFailure
			}
			all = append(all, Warning{a.p.Errorf(n, fmt.Sprintf("write %s * %s > %s%s for %s%s within %v%s",
				a.text(x), shortly(r.Window.Seconds()), shortly(more), guard, map[bool]string{false: "more than "}[more < number], shortly(number), r.Window, or),
				"%s is about each second, and holds from %s within %v on", a.text(n), shortly(number*r.Window.Seconds()), r.Window)})
		}
		return whole
	})
	return all
}

// windows warns of a comparison of the rates of two states in windows of which one is ten times the
// other or more: their ratio means nothing. Two windows of one state show a change.
func (a *analysis) windows() (all []Warning) {
	a.p.Root.Any(func(n *ir.Node) bool {
		switch n.Op {
		case ir.OpLt, ir.OpLe, ir.OpGt, ir.OpGe:
		default:
			return false
		}
		g, h := grounds{}, grounds{}
		a.readsIn(n.A, map[int]bool{}, &g)
		a.readsIn(n.B, map[int]bool{}, &h)
		if len(g.reads) != 1 || len(h.reads) != 1 {
			return false
		}
		r, s := g.reads[0], h.reads[0]
		if r.Stub == stubs.StateRate && s.Stub == stubs.StateRate && r.Key != s.Key && max(r.Window, s.Window) >= 10*min(r.Window, s.Window) {
			all = append(all, Warning{a.p.Errorf(n, "write one window", "%s compares a rate within %v with one within %v", a.text(n), r.Window, s.Window)})
		}
		return false
	})
	return all
}

// otherWindow warns of rate("errors", duration("30s")) * 60 > 19 if a reason speaks of 20 errors in
// 30s: a rate times the seconds of its window is the growth within the window.
func (a *analysis) otherWindow() (all []Warning) {
	a.p.Root.Any(func(n *ir.Node) bool {
		if n.Op != ir.OpGt && n.Op != ir.OpGe || n.B.Op != ir.OpConst || n.B.Type != stubs.Float {
			return false
		}
		x := a.named(n.A)
		if x == nil || x.Op != ir.OpMul {
			return false
		}
		rate, times := a.named(x.A), a.named(x.B)
		if rate != nil && rate.Op == ir.OpConst {
			rate, times = times, rate
		}
		if rate == nil || times == nil || rate.Op != ir.OpRead || times.Op != ir.OpConst || a.reads[rate.Index].Stub != stubs.StateRate {
			return false
		}
		window, number := a.reads[rate.Index].Window, math.Float64frombits(n.B.Imm)
		for _, reason := range a.p.Reasons {
			if math.Float64frombits(times.Imm) != window.Seconds() && window > time.Second && (saysWithin(reason, number, window) || saysWithin(reason, number+1, window)) {
				all = []Warning{{a.p.Errorf(x, fmt.Sprintf("multiply by %s", shortly(window.Seconds())),
					"%s is the growth within %ss, and %q speaks of %v", a.text(x), shortly(math.Float64frombits(times.Imm)), reason, window)}}
				return true
			}
		}
		return false
	})
	return all
}

// troubleWords are in the names of states that count what seldom happens.
var troubleWords = map[string]bool{"timeout": true, "timeouts": true, "panic": true, "panics": true, "crash": true, "crashes": true, "bad": true, "broken": true, "5xx": true}

// countsTrouble reports whether the name of a state says that it counts failures, or the like.
func countsTrouble(name string) bool {
	return saysFailed(name) || slices.ContainsFunc(strings.Split(strings.ToLower(name), "_"), func(word string) bool { return troubleWords[word] })
}

// rateAbove returns the rate of a state and the constant of a comparison that holds while the rate
// is above the constant.
func (a *analysis) rateAbove(n *ir.Node) (x, limit *ir.Node, r ir.Read, ok bool) {
	switch n.Op {
	case ir.OpGt, ir.OpGe:
		x, limit = a.named(n.A), n.B
	case ir.OpLt, ir.OpLe:
		x, limit = a.named(n.B), n.A
	default:
		return nil, nil, r, false
	}
	if x == nil || x.Op != ir.OpRead || limit.Op != ir.OpConst || limit.Type != stubs.Float {
		return nil, nil, r, false
	}
	r = a.reads[x.Index]
	return x, limit, r, r.Stub == stubs.StateRate
}

// saysWithin reports whether a text names a number, and after it a window: "5 failures in 1m", "5
// failures in 10 seconds", "more than 5 a minute".
func saysWithin(text string, number float64, window time.Duration) bool {
	words := strings.FieldsFunc(text, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '.' })
	named, before := false, 1.0
	for _, word := range words {
		word = strings.ToLower(strings.Trim(word, "."))
		if d, err := time.ParseDuration(word); err == nil && named && d == window {
			return true
		}
		switch span := spanOf(word); {
		case span == 0 || !named:
		case time.Duration(before*float64(span)) == window:
			return true
		case span == time.Second && before == 1:
			return false // it speaks of each second
		}
		f, err := strconv.ParseFloat(word, 64)
		named = named || err == nil && f == number
		if before = 1; err == nil && f != number {
			before = f
		}
	}
	return false
}

// spanOf returns the span that a word names, or 0.
func spanOf(word string) time.Duration {
	switch word {
	case "s", "sec", "secs", "second", "seconds":
		return time.Second
	}
	return spanWords[word]
}
