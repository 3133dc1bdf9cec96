package analyzer

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// miscounted warns of a throw whose reason gives the limit of a count, as in "at most 3 exports",
// if the condition has the next lower or higher limit, or one with other zeros at its end.
func (a *analysis) miscounted() (all []Warning) {
	c := a.contraries(stubs.Throw)
	c.follow(a.p.Root, nil, func(n *ir.Node, conds []condition) {
		reason := a.p.Reasons[n.Index]
		said, ok := limitIn(reason)
		if !ok || len(all) > 0 {
			return
		}
		agrees, seen := false, map[int]bool{}
		for _, cond := range conds {
			a.operations(cond.Node, seen, func(at *ir.Node) {
				has, counts := a.countLimit(at, reason)
				agrees = agrees || counts && has == said
				if counts && len(all) == 0 && (has == said-1 || has == said+1 || sameDigits(has, said)) {
					all = []Warning{{a.p.Errorf(at, fmt.Sprintf("compare with %d, or correct the reason", a.constantOf(at)+said-has),
						"%q and %s do not agree: the limit is %d here, and %d there", reason, a.text(at), has, said)}}
				}
			})
		}
		if agrees {
			all = nil
		}
	})
	return all
}

// limitWords finds limits in a text, and behindLimit the text that may follow one: a fraction, and
// words of which one may be its unit. "At most 3", "more than 3", "at least 4" and "fewer than 4"
// are all limits of 3: the greatest number that is not above them.
var (
	limitWords = regexp.MustCompile(`(?i)\b(at most|no more than|not more than|up to|maximum of|max\.?|more than|over|above|at least|fewer than|less than|below) ` +
		`(\d+|one|two|three|four|five|six|seven|eight|nine|ten)\b`)
	behindLimit = regexp.MustCompile(`^([.,:]\d|/|%)? ?(\pL*%?)( \pL+)?( \pL+)?`)
	sizeUnit    = regexp.MustCompile(`^[kKMGT]i?B$|(?i)^bytes$`)
)

var numerals = []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}

// limitIn returns the only limit of a count in a text; not one of a time, a size, a share or a rate.
func limitIn(text string) (limit int64, ok bool) {
	all := limitWords.FindAllStringSubmatchIndex(text, -1)
	if len(all) != 1 {
		return 0, false
	}
	at := all[0]
	word, number := strings.ToLower(text[at[2]:at[3]]), text[at[4]:at[5]]
	rest := behindLimit.FindStringSubmatch(text[at[1]:])
	for _, unit := range rest[2:] {
		unit = strings.TrimSpace(unit)
		if _, time := units[unit]; time || rest[1] != "" || strings.HasPrefix(unit, "percent") || strings.HasSuffix(unit, "%") || spanOf(unit) > 0 || sizeUnit.MatchString(unit) {
			return 0, false
		}
	}
	limit, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		limit = int64(slices.Index(numerals, strings.ToLower(number)))
	}
	switch word {
	case "at least", "fewer than", "less than", "below":
		limit--
	}
	return limit, true
}

// countLimit returns the limit in a comparison of a count with a constant: the greatest number that
// is not above it. x > 3, x <= 3, x >= 4 and x < 4 all have the limit 3. A priority counts if the
// reason is about priorities.
func (a *analysis) countLimit(n *ir.Node, reason string) (limit int64, ok bool) {
	if !a.comparesCount(n, reason) {
		return 0, false
	}
	x, op := a.constantOf(n), n.Op
	if n.A.Op == ir.OpConst {
		op = map[ir.Op]ir.Op{ir.OpLt: ir.OpGt, ir.OpGt: ir.OpLt, ir.OpLe: ir.OpGe, ir.OpGe: ir.OpLe}[op]
	}
	if op == ir.OpGe || op == ir.OpLt {
		x--
	}
	return x, true
}

// comparesCount reports whether a comparison is one of a count of tasks with a constant. The stubs
// that count tasks include the arriving one; whether a state does is not known.
func (a *analysis) comparesCount(n *ir.Node, reason string) bool {
	if !isOrdering(n.Op) || n.A.Type != stubs.Int {
		return false
	}
	x, y := a.named(n.A), a.named(n.B)
	if x != nil && x.Op == ir.OpConst {
		x, y = y, x
	}
	if x == nil || y == nil || x.Op != ir.OpRead || y.Op != ir.OpConst {
		return false
	}
	switch why, s := reasonBy(a.reads[x.Index].Stub); {
	case s == flat:
		return false
	case why == unurgent:
		return strings.Contains(strings.ToLower(reason), "priorit")
	}
	return true
}

// constantOf returns the constant of a comparison.
func (a *analysis) constantOf(n *ir.Node) int64 {
	if x := a.named(n.A); x.Op == ir.OpConst {
		return int64(x.Imm)
	}
	return int64(a.named(n.B).Imm)
}

// sameDigits reports whether two numbers differ only in the zeros at their ends.
func sameDigits(x, y int64) bool {
	digits := func(n int64) string { return strings.TrimRight(strconv.FormatInt(n, 10), "0") }
	return x != y && digits(x) == digits(y)
}
