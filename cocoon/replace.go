package cocoon

import (
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// replace takes the versions of out out of force, and puts the versions of in in force, each for
// its registration. They are evaluated in their order, in the place of the first version of out; on
// a loop that had none of those, after all other policies. A version in both lists stays in force,
// at its new place. Each loop changes over in one step. When replace returns, no version that was
// only in out is being evaluated or ever will be. Called with regMu held.
func (rt *Runtime) replace(out, in []*version) {
	stays := make(map[*version]bool, len(in))
	for _, v := range in {
		stays[v] = true
	}
	replaced := make(map[*Registration]bool, len(in))
	for _, v := range in {
		r := v.of
		if v.number == 0 {
			r.versions++
			v.number = r.versions
		}
		replaced[r] = true
		rt.policies[r.name] = r
		r.now = v
	}
	for _, v := range out {
		if !replaced[v.of] {
			delete(rt.policies, v.of.name)
		}
	}
	rt.resequence(out, in)
	switch {
	case slices.ContainsFunc(out, (*version).wantsCosts):
		rt.recost()
	case slices.ContainsFunc(in, (*version).wantsCosts):
		rt.costs.Store(true)
	}
	rt.await(out, in)
	for _, l := range *rt.loops.Load() {
		l.replace(out, in)
	}
	left := make(map[*version]bool, len(out))
	for _, v := range out {
		left[v] = true
	}
	added := slices.DeleteFunc(slices.Clone(in), func(v *version) bool { return left[v] })
	rt.tellChanges(added, out, replaced)
	rt.lookSoon(added...)
	for _, v := range out {
		if !stays[v] {
			v.off.Store(true)
			delete(rt.look.added, v)
			for _, b := range v.bounds {
				b.states.Forget(&rt.steps)
			}
			v.rebase(nil)
			v.discard()
		}
		if !replaced[v.of] {
			rt.endedPolicies.add(v.of.name, v.of.counted())
		}
	}
	if slices.ContainsFunc(rt.gone, (*basis).wasUsed) {
		rt.decisions.settle()
	}
	rt.gone = nil
}

// resequence is replace for the order in which a new loop gets the policies. Called with regMu
// held.
func (rt *Runtime) resequence(out, in []*version) {
	enter := make([]*Registration, len(in))
	for i, v := range in {
		enter[i] = v.of
	}
	if len(out) == 0 {
		rt.sequence = append(rt.sequence, enter...)
		return
	}
	leave := map[*Registration]bool{}
	for _, v := range out {
		leave[v.of] = true
	}
	leaves := func(r *Registration) bool { return leave[r] }
	if first := out[0].of; len(out) == 1 { // faster, for thousands
		leaves = func(r *Registration) bool { return r == first }
	}
	place := slices.IndexFunc(rt.sequence, leaves)
	if place < 0 {
		place = len(rt.sequence)
	}
	rt.sequence = slices.Insert(slices.DeleteFunc(rt.sequence, leaves), place, enter...)
}

// tellChanges puts policies that came into force, or went out of force, into the stream of
// decisions. Called with regMu held.
func (rt *Runtime) tellChanges(added, out []*version, replaced map[*Registration]bool) {
	for _, v := range added {
		kind := DecisionPolicyUpdated
		if v.number == 1 {
			kind = DecisionPolicyAdded
		}
		v.changed(kind, v.mode(), "")
	}
	for _, v := range out {
		if !replaced[v.of] {
			v.changed(DecisionPolicyRemoved, v.mode(), "")
		}
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

// cancel takes the policy out of force, unless another version is already in force.
func (v *version) cancel() {
	v.of.rt.regMu.Lock()
	defer v.of.rt.regMu.Unlock()
	v.withdraw()
}

// withdraw takes the policy out of force if v is the version in force. Called with regMu held.
func (v *version) withdraw() {
	if v.inForce() {
		v.of.rt.replace([]*version{v}, nil)
	}
}

// await collects the names of labels, label values and events that the policies in force refer to.
// From then on the runtime records which of them it meets (see awaitedNames). Called with regMu
// held, after the policies of out have given way to the policies of in. If out has no such names,
// only the names of in are added: there may be thousands of policies, registered one by one.
func (rt *Runtime) await(out, in []*version) {
	labels := rt.canaries.labels()
	if slices.ContainsFunc(out, (*version).refersToNames) || !slices.Equal(labels, rt.awaitedOfCanaries) {
		rt.awaitedOfCanaries = labels
		rt.awaitNames()
	} else {
		awaited.extend(rt, rt.awaitedIn(in))
	}
	if was := rt.spoken.Load(); was == nil || slices.ContainsFunc(out, (*version).namesTenants) {
		rt.keepTenants()
	} else {
		was.add(in)
	}
	if len(rt.policies) > 0 {
		rt.speaks.Store(true)
		rt.listen(notify.Now())
		rt.listenForLoops(notify.Now(), in)
	}
}

// awaitNames collects the names anew.
func (rt *Runtime) awaitNames() {
	rt.awaitedKeys = awaitedKeys{}
	var all []*version
	for _, r := range rt.policies {
		all = append(all, r.now)
	}
	names := rt.awaitedIn(all)
	for _, label := range rt.awaitedOfCanaries {
		names = append(names, ofLabel(label))
	}
	awaited.replace(rt, names)
}

// awaitedIn returns the names that are awaited because of versions that have come into force.
func (rt *Runtime) awaitedIn(in []*version) (names []ir.Mention) {
	for _, v := range in {
		names = append(append(names, v.awaits()...), rt.awaitedKeys.add(v.member())...)
	}
	return names
}

// keepsTenant reports whether the tenant has an account of its own regardless of the number of
// tenants.
func (rt *Runtime) keepsTenant(table *tenantTable, name stubs.NameID) bool {
	s := rt.spoken.Load()
	return table.shares[name] != 0 || s != nil && s.has(name)
}

func (s *spoken) has(name stubs.NameID) bool {
	_, named := s.get(name)
	return named
}

// add adds the tenants that the versions name.
func (s *spoken) add(in []*version) {
	more := map[stubs.NameID]bool{}
	for _, v := range in {
		for _, name := range v.tenantNames() {
			if id := stubs.Intern(name); !s.has(id) {
				more[id] = true
			}
		}
	}
	s.extend(more)
}

// keepTenants finds the tenants that policies name: their accounts do not count towards the bound
// on accounts. Accounts of tenants no longer named count again. If there are too many then,
// keepTenants removes those of them that have no live task. Called with regMu held.
func (rt *Runtime) keepTenants() {
	now := new(spoken)
	var all []*version
	for _, r := range rt.policies {
		all = append(all, r.now)
	}
	now.add(all)
	was := rt.spoken.Swap(now)
	table := rt.tenants.Load()
	if table == nil || was == nil {
		return
	}
	for _, l := range *rt.loops.Load() {
		l.lockAll()
		for id, t := range l.tenants {
			if was.has(id) && len(l.tenants) > table.most && t.Live() == 0 && !rt.keepsTenant(table, id) {
				delete(l.tenants, id)
			}
		}
		l.unlock()
	}
}
