package analyzer

import (
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// totals warns of a throw once a total of a tenant is high: nothing lowers a total.
func (a *analysis) totals() (all []Warning) {
	c := a.contraries(stubs.Throw)
	c.follow(a.p.Root, nil, func(n *ir.Node, conds []condition) {
		for _, part := range a.parts(conds) {
			for _, id := range []stubs.ID{stubs.TenantRunning, stubs.TenantThrown} {
				if at := a.follows(part, id); at != nil && len(all) == 0 && a.onlyReads(at, id) {
					all = []Warning{{a.p.Errorf(at, "keep what the tenant uses in a minute in a state, or declare a token bucket with a key",
						"%s only goes up, so %s is decided for good some day", stubs.Catalogue[id].Path, a.text(at))}}
				}
			}
		}
	})
	return all
}

// crowds warns of a throw on ticks that ends all running tasks of a name or a tenant once there are
// too many of them, because nothing in its conditions tells these tasks apart.
func (a *analysis) crowds() (all []Warning) {
	if a.p.On != stubs.Tick {
		return nil
	}
	counts := []stubs.ID{stubs.ClassTasks, stubs.ClassBusy, stubs.TenantTasks, stubs.TenantBusy}
	apart := func(r ir.Read) bool {
		return r.Stub > stubs.TaskKind && r.Stub <= stubs.TaskSlice && r.Stub != stubs.TaskLabels || r.Stub == stubs.Draw || r.By != nil
	}
	c := a.contraries(stubs.Throw)
	c.follow(a.p.Root, nil, func(n *ir.Node, conds []condition) {
		for _, part := range a.parts(conds) {
			g := grounds{}
			for _, cond := range part {
				a.readsIn(cond.Node, map[int]bool{}, &g)
			}
			for _, id := range counts {
				if at := a.follows(part, id); at != nil && len(all) == 0 && !g.about(apart) {
					of, bound := "name", "class.tasks"
					if id < stubs.ClassTasks {
						of, bound = "tenant", "tenant.tasks"
					}
					all = []Warning{{a.p.Errorf(n, "refuse the next task on enqueue, with "+bound+"; or compare task.running as well",
						"%s ends all running tasks of the %s at once: nothing in its conditions tells them apart", a.text(n), of)}}
				}
			}
		}
	})
	return all
}
