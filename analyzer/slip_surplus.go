package analyzer

import (
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// surplus warns of a throw that refuses all tasks while more than a number of them arrive a second.
// Its author most likely means the tasks above that number. But a rate counts refused tasks, too, so
// no task is let in as long as clients do not slow down. A rate that is one of several reasons, or
// that is about other tasks as well as the refused ones, may be a sign of load.
func (a *analysis) surplus() (all []Warning) {
	if a.p.On != stubs.Enqueue || len(a.declared.Tasks)+len(a.declared.Except)+len(a.declared.Kinds) > 0 {
		return nil
	}
	c := a.contraries(stubs.Throw)
	c.follow(a.p.Root, nil, func(n *ir.Node, conds []condition) {
		g := a.groundsOf(conds)
		for _, id := range []stubs.ID{stubs.TenantRate, stubs.LoopRate} {
			if len(all) > 0 || g.about(func(r ir.Read) bool { return !goesWith(r, id) }) {
				continue
			}
			for _, cond := range conds {
				if at, limit := a.rateAt(cond, id); at != nil && len(all) == 0 {
					hint, whom := "take from a token bucket, as in {rate: "+a.text(limit)+", burst: ...}, which lets the others in", "all tasks"
					if id == stubs.TenantRate {
						hint, whom = "take from a token bucket with the key tenant.name, as in {rate: "+a.text(limit)+", burst: ..., keys: ...}, which lets the others in", "all tasks of the tenant"
					}
					all = append(all, Warning{a.p.Errorf(at, hint, "%s counts refused tasks, too: while more than %s arrive in a second, %s refuses %s, and not those above %s",
						stubs.Catalogue[id].Path, a.text(limit), a.text(n), whom, a.text(limit))})
				}
			}
		}
	})
	return all
}

// goesWith reports whether a policy may read r and a rate, and still be about the surplus: r is the
// rate itself, the time of day, or, for the rate of a tenant, something about the tenant.
func goesWith(r ir.Read, rate stubs.ID) bool {
	switch r.Stub {
	case rate, stubs.LoopName, stubs.ClockMinute, stubs.ClockHour, stubs.ClockWeekday, stubs.RuntimeUptime:
		return true
	case stubs.TenantName, stubs.ArrivingLabels:
		return rate == stubs.TenantRate && r.Type == stubs.Name
	}
	return false
}

// rateAt returns a comparison, within a condition, that holds while a rate is above a constant; and
// the constant.
func (a *analysis) rateAt(c condition, id stubs.ID) (at, limit *ir.Node) {
	if takes := c.Node.Any(func(n *ir.Node) bool { return n.Op == ir.OpTake }); takes || !c.holds {
		return nil, nil
	}
	a.within(c.Node, func(n *ir.Node) {
		var x, y *ir.Node
		switch n.Op {
		case ir.OpGt, ir.OpGe:
			x, y = a.named(n.A), a.named(n.B)
		case ir.OpLt, ir.OpLe:
			x, y = a.named(n.B), a.named(n.A)
		}
		if x != nil && y != nil && x.Op == ir.OpRead && a.reads[x.Index].Stub == id && y.Op == ir.OpConst {
			at, limit = n, y
		}
	})
	return at, limit
}
