package analyzer

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

// maxQuote is the greatest length of a quotation in a message, in characters.
const maxQuote = 40

// text returns the source text of n, on one line.
func (a *analysis) text(n *ir.Node) string {
	text := strings.Join(strings.Fields(a.p.Text[n.Pos:n.End]), " ")
	if text == "" {
		return "this"
	}
	if runes := []rune(text); len(runes) > maxQuote {
		return string(runes[:maxQuote-3]) + "..."
	}
	return text
}

// describe returns the values in words: "0 or more", `"safe" or "both"`.
func (a *analysis) describe(v value) string {
	switch {
	case v.of == stubs.Bool:
		return map[truth]string{{yes: true}: "true", {no: true}: "false"}[v.truth]
	case v.of == stubs.Name:
		return a.describeNames(v.names)
	case v.of == stubs.Float:
		f := v.floats
		return describeRange(math.IsInf(f.lo, -1), math.IsInf(f.hi, 1), f.lo == f.hi, fmt.Sprint(f.lo), fmt.Sprint(f.hi))
	}
	i := v.ints
	return describeRange(i.lo <= -large, i.hi >= large, i.single(), number(v.of, i.lo), number(v.of, i.hi))
}

// large is the least number that counts as no bound in messages.
const large = 1 << 40

func number(t stubs.Type, n int64) string {
	switch t {
	case stubs.Duration:
		return time.Duration(n).String()
	case stubs.Bytes:
		return lang.Size(n)
	}
	return fmt.Sprint(n)
}

func describeRange(noLo, noHi, single bool, lo, hi string) string {
	switch {
	case single:
		return "always " + lo
	case noLo && noHi:
		return "any number"
	case noHi:
		return lo + " or more"
	case noLo:
		return hi + " or less"
	}
	return lo + " to " + hi
}

func (a *analysis) describeNames(s nameSet) string {
	if most := 8; len(s.ids) > most {
		if s.except {
			return fmt.Sprintf("anything but %d names", len(s.ids))
		}
		return fmt.Sprintf("one of %d names", len(s.ids))
	}
	var quoted []string
	for _, id := range stubs.Kinds { // kinds have a fixed order
		if slices.Contains(s.ids, id) {
			quoted = append(quoted, fmt.Sprintf("%q", id))
		}
	}
	kinds := len(quoted)
	for _, id := range s.ids {
		if !slices.Contains(stubs.Kinds[:], id) {
			quoted = append(quoted, fmt.Sprintf("%q", cmp.Or(a.p.Names[id], a.matched[id])))
		}
	}
	slices.Sort(quoted[kinds:])
	list := strings.Join(quoted, " or ")
	switch {
	case !s.except:
		return list
	case list == "":
		return "any name"
	}
	return "anything but " + list
}
