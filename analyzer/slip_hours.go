package analyzer

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// untilHour is an hour at which a time ends, as in "until 4:00" or "2:00 to 4:00".
var untilHour = regexp.MustCompile(`(?i)(?:\b(?:until|till|to|before)\s+|[-–]\s*)0?(\d{1,2})(?::00\b|\s*h\b|\s*o'clock|\s*([ap])m\b)`)

// lastHours warns of clock.hour in 2..4 where a reason speaks of a time until 4:00: at 4:30 the hour
// is 4.
func (a *analysis) lastHours() (all []Warning) {
	c := a.contraries(stubs.Throw)
	c.follow(a.p.Root, nil, func(n *ir.Node, conds []condition) {
		for _, m := range untilHour.FindAllStringSubmatch(a.p.Reasons[n.Index], -1) {
			hour, _ := strconv.Atoi(m[1])
			switch {
			case strings.EqualFold(m[2], "p") && hour < 12:
				hour += 12
			case strings.EqualFold(m[2], "a") && hour == 12:
				hour = 0
			}
			for _, cond := range conds {
				if at := a.throughHour(cond.Node, hour); at != nil && len(all) == 0 {
					all = append(all, Warning{a.p.Errorf(at, fmt.Sprintf("write %d in place of %d for the last hour", hour-1, hour),
						"%q and %s do not agree: the hour is %d until %d:59", a.p.Reasons[n.Index], a.text(at), hour, hour)})
				}
			}
		}
	})
	return all
}

// throughHour returns the comparison in a condition that holds until the end of an hour.
func (a *analysis) throughHour(cond *ir.Node, hour int) (at *ir.Node) {
	a.within(cond, func(n *ir.Node) {
		if at != nil || n.Op != ir.OpLe || hour == 0 {
			return
		}
		x, y := a.named(n.A), a.named(n.B)
		if x != nil && y != nil && x.Op == ir.OpRead && a.reads[x.Index].Stub == stubs.ClockHour && y.Op == ir.OpConst && y.Imm == uint64(hour) {
			at = n
		}
	})
	return at
}
