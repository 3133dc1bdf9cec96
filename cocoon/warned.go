package cocoon

import (
	"log/slog"
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/analyzer"
)

// tellWarnings logs the analyzer's warnings about policies that have come into force, and new
// warnings about policies together, a line for each policy. Called with regMu held.
func (rt *Runtime) tellWarnings(fresh []*version) {
	if len(fresh) == 0 {
		return
	}
	texts := map[string][]string{}
	for _, v := range fresh {
		for _, w := range v.verified.Warnings() {
			texts[v.of.name] = append(texts[v.of.name], w.Error.Error())
		}
	}
	var together []string
	members := rt.members()
	for _, r := range append(analyzer.Together(members), analyzer.Mismatched(members, rt.declaredKinds())...) {
		text := r.Err.Error()
		if together = append(together, r.Name+": "+text); !slices.Contains(rt.toldTogether, r.Name+": "+text) {
			texts[r.Name] = append(texts[r.Name], text)
		}
	}
	rt.toldTogether = together
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		rt.log.add(slog.LevelWarn, "cocoon: policy may do something else than its author means", "policy", name, "warnings", texts[name])
	}
}

// members returns the policies in force, by their names. Called with regMu held.
func (rt *Runtime) members() (all []analyzer.Member) {
	for _, name := range slices.Sorted(maps.Keys(rt.policies)) {
		v := rt.policies[name].now
		all = append(all, analyzer.Member{Spec: v.spec, Verified: v.verified})
	}
	return all
}

// idleStates returns the registered states for which analyzer.Idle has a warning. Called with regMu
// held.
func (rt *Runtime) idleStates() (names []string) {
	for _, r := range analyzer.Idle(rt.members(), declarationsOf(*rt.states.Load())) {
		if r.Kind == "state" { // Unmet has the keys
			names = append(names, r.Name)
		}
	}
	return names
}

// tellIdleStates logs the states that no policy writes, each once as long as that is so. Policies
// may be registered after the states, so the runtime logs them together with the unmet names. The
// same holds for the shares of tenants.
func (rt *Runtime) tellIdleStates() {
	if t := rt.tenants.Load(); t != nil && len(t.listed) > 0 && !t.told {
		if err := analyzer.IdleShares(rt.members()); err != nil {
			t.told = true
			rt.log.add(slog.LevelWarn, "cocoon: tenants: "+err.Error())
		}
	}
	names := rt.idleStates()
	news := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(rt.toldIdle, name) })
	if rt.toldIdle = names; len(news) > 0 {
		rt.log.add(slog.LevelWarn, "cocoon: no policy writes these states, so they keep their first values", "states", news)
	}
}
