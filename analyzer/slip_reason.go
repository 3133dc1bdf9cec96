package analyzer

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// misread warns of a throw whose reason has the number of one of its conditions, or of its retry
// time, with another unit, share or quantile.
func (a *analysis) misread() (all []Warning) {
	c := a.contraries(stubs.Throw)
	c.follow(a.p.Root, nil, func(n *ir.Node, conds []condition) {
		reason := a.p.Reasons[n.Index]
		grounds, seen := []*ir.Node{n.A}, map[int]bool{}
		for _, cond := range conds {
			if !laterIn.MatchString(reason) { // the time in such a reason is not that of a condition
				grounds = append(grounds, cond.Node)
			}
		}
		for _, ground := range grounds {
			a.operations(ground, seen, func(at *ir.Node) {
				if len(all) > 0 {
					return
				}
				if says, hint := a.otherwise(at, reason); says != "" {
					all = []Warning{{a.p.Errorf(at, hint, "%q and %s do not agree: %s", reason, a.text(at), says)}}
				}
			})
		}
	})
	return all
}

// operations calls then once for each operation of an expression, and of the values of its locals
// that are not yet in seen.
func (a *analysis) operations(n *ir.Node, seen map[int]bool, then func(*ir.Node)) {
	if n == nil {
		return
	}
	n.Any(func(at *ir.Node) bool {
		then(at)
		if at.Op == ir.OpLocal && !seen[at.Index] {
			seen[at.Index] = true
			a.operations(a.named(at), seen, then)
		}
		return false
	})
}

// otherwise says how a reason contradicts an operation; "" if it does not.
func (a *analysis) otherwise(n *ir.Node, reason string) (says, hint string) {
	switch {
	case n.Op == ir.OpConst && n.Type == stubs.Duration:
		if d := spanWith(reason, time.Duration(n.Imm)); d != 0 {
			return fmt.Sprintf("%v is not %v", time.Duration(n.Imm), d), "correct one of the two"
		}
	case n.Op == ir.OpConst && n.Type == stubs.Bytes:
		if says := sizeWith(reason, n.Imm); says != "" {
			return says, "correct one of the two"
		}
	case n.Op == ir.OpRead && a.reads[n.Index].Quantile > 0:
		q := a.reads[n.Index].Quantile
		for _, m := range quantileIn.FindAllStringSubmatch(reason, -1) {
			if f, _ := strconv.ParseFloat("0."+m[1], 64); f != q && !slices.ContainsFunc(a.p.Reads, func(r ir.Read) bool { return r.Quantile == f }) {
				return fmt.Sprintf("p%s is the quantile %v", m[1], f), fmt.Sprintf("write %v", f)
			}
		}
	}
	return "", ""
}

var (
	quantileIn = regexp.MustCompile(`\b[pP](\d{2,3})\b`)
	laterIn    = regexp.MustCompile(`(?i)\b(retry|again|back|later|until)\b`)
	timeIn     = regexp.MustCompile(`(?i)\b(\d+|one|two|three|four|five|six|seven|eight|nine|ten) ?(ns|us|µs|ms|s|m|h|milliseconds?|msec|sec|seconds?|min|minutes?|hours?)\b`)
)

// units are the units of times, by their names in a text.
var units = map[string]time.Duration{"ns": 1, "us": time.Microsecond, "µs": time.Microsecond, "ms": time.Millisecond, "msec": time.Millisecond,
	"millisecond": time.Millisecond, "milliseconds": time.Millisecond, "s": time.Second, "sec": time.Second, "second": time.Second, "seconds": time.Second,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute, "minutes": time.Minute, "h": time.Hour, "hour": time.Hour, "hours": time.Hour}

// spanWith returns a time in a text that has the number of another time, in another unit; 0 if
// there is none, or if the text has another time as well.
func spanWith(text string, of time.Duration) (found time.Duration) {
	times := timeIn.FindAllStringSubmatch(text, -1)
	if len(times) > 1 {
		return 0
	}
	for _, m := range times {
		number, err := strconv.ParseInt(m[1], 10, 32)
		if i := slices.Index(numerals, strings.ToLower(m[1])); i > 0 {
			number, err = int64(i), nil
		}
		d := time.Duration(number) * units[m[2]]
		if d == of {
			return 0
		}
		for _, unit := range units {
			if err == nil && number > 0 && time.Duration(number)*unit == of {
				found = d
			}
		}
	}
	return found
}
