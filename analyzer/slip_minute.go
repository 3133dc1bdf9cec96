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
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// minutes returns warnings about buckets whose rate is most likely meant for a minute, an hour or a
// day: a rate is a number of tokens for each second. A name or a reason says so, or the caller is
// told to come back long after the bucket is full.
func minutes(members []Member, d Declared) (all []Remark) {
	told := map[string]bool{}
	for _, m := range members {
		p := m.Verified.program
		p.Root.Any(func(n *ir.Node) bool {
			if n.Op != ir.OpTake {
				return false
			}
			name := p.Sites[n.Index].Name
			s, ok := m.declaration(name, d)
			if !ok || told[m.own(name)] {
				return false
			}
			if why, span := m.slower(name, s.Bucket); why != "" {
				told[m.own(name)] = true
				all = append(all, m.remark(n, fmt.Sprintf("write rate: %v, if %v tokens are meant for %s", shortly(s.Bucket.Rate/span.Seconds()), s.Bucket.Rate, unitNames[span]),
					"the bucket %s gets %v tokens a second, and %s", name, s.Bucket.Rate, why))
			}
			return false
		})
	}
	return all
}

// shortly returns a rate with a few digits.
func shortly(f float64) string { return strconv.FormatFloat(f, 'g', 3, 64) }

// unitNames are the times that a rate may be meant for, and their names.
var unitNames = map[time.Duration]string{time.Minute: "a minute", time.Hour: "an hour", 24 * time.Hour: "a day"}

// words that say a span.
var spanWords = map[string]time.Duration{"minute": time.Minute, "minutes": time.Minute, "min": time.Minute, "rpm": time.Minute, "minutely": time.Minute,
	"hour": time.Hour, "hours": time.Hour, "hourly": time.Hour, "day": 24 * time.Hour, "daily": 24 * time.Hour}

// slower returns why a bucket is most likely meant to fill more slowly, and the span that its rate
// is meant for; "" if nothing says so.
func (m Member) slower(name string, b policy.Bucket) (why string, span time.Duration) {
	p := m.Verified.program
	texts := append([]string{name}, p.Reasons...)
	if takes := slices.DeleteFunc(slices.Clone(p.Sites), func(s ir.Site) bool { return s.Effect != stubs.Take }); len(takes) == 1 {
		texts = append(texts, m.Spec.Name)
	} else {
		texts = texts[:1] // a reason may be about another bucket
	}
	for _, text := range texts {
		if number, span := spanIn(text); span > 0 && (number == b.Rate || number == 0 && b.Burst <= b.Rate && b.Rate == math.Trunc(b.Rate)) {
			return fmt.Sprintf("%q speaks of %s", text, unitNames[span]), span
		}
	}
	if len(texts) == 1 {
		return "", 0
	}
	full, retry := time.Duration(b.Burst/b.Rate*float64(time.Second)), m.leastRetry()
	if retry >= time.Minute && full < retry/10 {
		span = time.Minute
		for longer := range unitNames {
			if longer <= retry {
				span = max(span, longer)
			}
		}
		return fmt.Sprintf("is full after %v at most, and the caller is told to come back after %v", full.Round(time.Millisecond), retry), span
	}
	return "", 0
}

// perSecond warns of a throw while a rate is above a number, if the reason gives the number for a
// longer time: rates are for each second.
func (a *analysis) perSecond() (all []Warning) {
	rates := []stubs.ID{stubs.TenantRate, stubs.LoopRate, stubs.StateRate}
	c := a.contraries(stubs.Throw)
	c.follow(a.p.Root, nil, func(n *ir.Node, conds []condition) {
		number, span := spanIn(a.p.Reasons[n.Index])
		for _, cond := range conds {
			cond.Node.Any(func(at *ir.Node) bool {
				if len(all) > 0 || span == 0 || at.Op != ir.OpGt && at.Op != ir.OpGe || at.B.Op != ir.OpConst || at.B.Type != stubs.Float || math.Float64frombits(at.B.Imm) != number {
					return false
				}
				if x := a.named(at.A); x != nil && x.Op == ir.OpRead && slices.Contains(rates, a.reads[x.Index].Stub) {
					all = []Warning{{a.p.Errorf(at, fmt.Sprintf("compare it with %s", shortly(number/span.Seconds())),
						"%s is about each second, and %q speaks of %s", a.text(at), a.p.Reasons[n.Index], unitNames[span])}}
				}
				return false
			})
		}
	})
	return all
}

// spanIn returns the span that a text speaks of, and the last number before it; 0 if there is none.
func spanIn(text string) (number float64, span time.Duration) {
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '.' }) {
		if f, err := strconv.ParseFloat(word, 64); err == nil {
			number = f
		} else if span = spanWords[strings.ToLower(word)]; span > 0 {
			return number, span
		}
	}
	return 0, 0
}

// leastRetry returns the least constant retry time of the throws that say one.
func (m Member) leastRetry() (least time.Duration) {
	m.Verified.program.Root.Any(func(n *ir.Node) bool {
		if throws(n) && n.A != nil && n.A.Op == ir.OpConst && (least == 0 || time.Duration(n.A.Imm) < least) {
			least = time.Duration(n.A.Imm)
		}
		return false
	})
	return least
}
