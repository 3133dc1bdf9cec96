package cocoon

import (
	"slices"

	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// replace takes the versions of out out of force, and puts the versions of in in force, each for
// its registration. They are evaluated in their order, after all other policies. A version in both
// lists stays in force, at its new place. Each loop changes over in one step. When replace
// returns, no version that was only in out is being evaluated or ever will be. Called with regMu
// held.
func (rt *Runtime) replace(out, in []*version) {
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
		l.replace(out, in)
	}
	left := make(map[*version]bool, len(out))
	for _, v := range out {
		left[v] = true
	}
	rt.tellWarnings(slices.DeleteFunc(slices.Clone(in), func(v *version) bool { return left[v] }))
	for _, v := range out {
		if !stays[v] {
			v.off.Store(true)
			for _, b := range v.bounds {
				b.states.forget(&rt.steps)
			}
			v.discard()
		}
		if !replaced[v.of] {
			rt.endedPolicies.add(v.of.name, v.of.counted())
		}
	}
}

// replace takes the versions of out out of force on the loop and puts the versions of in in force,
// in one step. When it returns, no version that was only in out is being evaluated or ever will be.
// Called with regMu held.
func (l *Loop) replace(out, in []*version) {
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

// rearm schedules the evaluation of the loop's policies after they have changed. Called under the
// loop's lock.
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

// recost switches on the averaging of tasks' costs while a policy or a tenant needs them. Called
// with regMu held, before the loops change over, so that every task is counted from then on.
func (rt *Runtime) recost() {
	wanted := rt.tenants.Load() != nil
	for _, r := range rt.policies {
		wanted = wanted || r.now.wantsCosts()
	}
	rt.costs.Store(wanted)
}
