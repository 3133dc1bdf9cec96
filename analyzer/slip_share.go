package analyzer

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// misshared warns of a throw whose reason gives a percentage, if the conditions draw another share
// of the tasks, by chance() or hash(), and no number in them is that percentage.
func (a *analysis) misshared() (all []Warning) {
	c := a.contraries(stubs.Throw)
	c.follow(a.p.Root, nil, func(n *ir.Node, conds []condition) {
		said := percentIn.FindAllStringSubmatch(a.p.Reasons[n.Index], -1)
		if len(said) != 1 || len(all) > 0 {
			return
		}
		percent := 50.0
		if said[0][1] != "" {
			percent, _ = strconv.ParseFloat(said[0][1], 64)
		}
		var drawn []share
		meant, seen := false, map[int]bool{}
		for _, cond := range conds {
			a.operations(cond.Node, seen, func(at *ir.Node) {
				s, constant := a.shareOf(at)
				switch {
				case s.at != nil && !constant:
					meant = true // the share is not known before the policy runs
				case s.at != nil:
					drawn, meant = append(drawn, s), meant || near(s.percent, percent) || near(100-s.percent, percent)
				case at.Op == ir.OpConst && at.Type == stubs.Float:
					meant = meant || near(math.Float64frombits(at.Imm), percent) || near(100*math.Float64frombits(at.Imm), percent)
				}
			})
		}
		if !meant && len(drawn) > 0 {
			s := drawn[0]
			all = []Warning{{a.p.Errorf(s.at, fmt.Sprintf(s.hint, percent, shortly(percent/100)), "%q and %s do not agree: %s", a.p.Reasons[n.Index], a.text(s.at), s.says)}}
		}
	})
	return all
}

// percentIn finds percentages in a text.
var percentIn = regexp.MustCompile(`(?i)(\d+(?:\.\d+)?) ?(?:%|percent\b)|\bhalf of\b`)

func near(x, y float64) bool { return math.Abs(x-y) < 1e-6 }

// share is a condition that holds for a share of the tasks.
type share struct {
	at      *ir.Node
	percent float64
	says    string
	hint    string // with %v for another percentage
}

// shareOf returns the share of tasks for which a comparison holds, and whether the share is constant.
func (a *analysis) shareOf(n *ir.Node) (s share, constant bool) {
	switch n.Op {
	case ir.OpLt, ir.OpLe, ir.OpGt, ir.OpGe:
	default:
		return s, false
	}
	x, y := a.named(n.A), a.named(n.B)
	switch {
	case x == nil || y == nil:
	case x.Op == ir.OpRead && a.reads[x.Index].Stub == stubs.Draw:
		s = share{at: n, percent: 100 * math.Float64frombits(y.Imm), hint: "write chance(%[2]v) for %[1]v %%"}
		s.says = fmt.Sprintf("%s is %s %%", a.text(n), shortly(s.percent))
		return s, y.Op == ir.OpConst
	case x.Op == ir.OpMod && x.A.Op == ir.OpMix && x.B.Op == ir.OpConst && y.Op == ir.OpConst:
		below, of := int64(y.Imm), int64(x.B.Imm)
		if n.Op == ir.OpLe || n.Op == ir.OpGt {
			below++
		}
		s = share{at: n, percent: 100 * float64(below) / float64(of), hint: "write %% 100 < %[1]v for %[1]v %%%.0[2]s"}
		s.says = fmt.Sprintf("the numbers 0 to %d are %d of %d", below-1, below, of)
		return s, of > 0
	}
	return s, false
}

// sizes finds sizes in a text.
var sizes = regexp.MustCompile(`\b(\d+) ?([kKMGT])(i?B)\b`)

// sizeWith says how a text gives a size that has the number of another size, in a unit of another
// power; "" if it does not, or if the text has several sizes. GB and GiB count as one power.
func sizeWith(text string, of uint64) string {
	all := sizes.FindAllStringSubmatch(text, -1)
	if len(all) != 1 {
		return ""
	}
	number, err := strconv.ParseUint(all[0][1], 10, 32)
	if err != nil || number == 0 {
		return ""
	}
	for power, letter := range []string{"k", "M", "G", "T"} {
		for _, base := range []float64{1000, 1024} {
			if float64(number)*math.Pow(base, float64(power+1)) == float64(of) && !strings.EqualFold(letter, all[0][2]) {
				return fmt.Sprintf("%d%s%s is not %s", number, letter, all[0][3], all[0][0])
			}
		}
	}
	return ""
}
