package cocoon

import (
	"slices"

	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// exchange takes versions out of force, and puts others in force, each as its registration's, to be
// evaluated in their order and after all others; those in both stay what they are, at another
// place. Each loop changes over in one step. When it returns, those that are out are not being
// evaluated, and never will be. Called with regMu held.
func (rt *Runtime) exchange(out, in []*version) {
	stays := make(map[*version]bool, len(in))
	for _, v := range in {
		stays[v] = true
	}
	replaced := make(map[*Registration]bool, len(in))
	for _, v := range in {
		r := v.of
		replaced[r] = true
		rt.policies[r.name] = r
		r.now = v
	}
	for _, v := range out {
		if !replaced[v.of] {
			delete(rt.policies, v.of.name)
		}
	}
	rt.recost()
	rt.await()
	for _, l := range *rt.loops.Load() {
		l.exchange(out, in)
	}
	for _, v := range out {
		if !stays[v] {
			v.off.Store(true)
			for _, b := range v.bounds {
				b.states.forget(&rt.steps)
			}
			v.discard()
		}
	}
}

// exchange takes versions out of force on the loop and puts others in force there, in one step.
// When it returns, those that are out and not in are not being evaluated and never will be. Called
// with regMu held.
func (l *Loop) exchange(out, in []*version) {
	l.lockAll()
	defer l.unlock()
	var leave []*bound
	for _, v := range out {
		if b := v.on(l); b != nil {
			leave = append(leave, b)
		}
	}
	var enter []notify.Subscription[*bound]
	for _, v := range in {
		if b := v.on(l); b != nil {
			b.setMode(v.mode())
			if b.due == 0 {
				b.looked = notify.Now()
				b.due = b.looked + b.interval.Load()
			}
			enter = append(enter, notify.Subscription[*bound]{Listener: b, Events: uint16(v.spec.On.Set())})
		}
	}
	l.hub.Exchange(leave, enter)
	l.reask()
	l.rearm()
}

// rearm sees to it that the loop's policies are evaluated when they must be, after a change of
// them. Called under the loop's lock.
func (l *Loop) rearm() {
	l.remeter()
	l.guarded = false
	for _, e := range []stubs.Event{stubs.Enqueue, stubs.Start, stubs.Exit} {
		l.guarded = l.guarded || slices.ContainsFunc(l.hub.Listeners(uint16(e)), (*bound).guards)
	}
	if l.retime(); l.leads.Load() != nil {
		l.tickBy(0) // tasks may be running already
	}
}

// recost sees to it that the costs of tasks are averaged while somebody wants to know them. Called
// with regMu held, before the loops change over: with that they see to it that each task is
// counted.
func (rt *Runtime) recost() {
	wanted := rt.tenants.Load() != nil
	for _, r := range rt.policies {
		wanted = wanted || r.now.wantsCosts()
	}
	rt.costs.Store(wanted)
}
