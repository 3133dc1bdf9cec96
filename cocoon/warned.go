package cocoon

import (
	"cmp"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/policy/document"
)

// tellWarnings logs the analyzer's warnings about policies that have come into force, and new
// warnings about policies together, a line for each policy. Called with regMu held.
func (rt *Runtime) tellWarnings(added []*version) {
	if len(added) == 0 {
		return
	}
	texts := map[string][]string{}
	for _, v := range added {
		for _, w := range v.verified.Warnings() {
			texts[v.of.name] = append(texts[v.of.name], v.located(w.Error))
		}
	}
	members := rt.members()
	more := rt.newRemarks(&rt.toldTogether, append(analyzer.Together(members), analyzer.Mismatched(members, rt.declarations())...))
	for _, more := range []map[string][]string{more, rt.newRemarks(&rt.toldSlots, rt.onSlots()), rt.newRemarks(&rt.toldKept, rt.unending())} {
		for name, said := range more {
			texts[name] = append(texts[name], said...)
		}
	}
	rt.warn(texts)
}

// onSlots returns the warnings about policies for which the loops have too few slots, or are too
// many. Called with regMu held.
func (rt *Runtime) onSlots() (all []analyzer.Remark) {
	for _, name := range slices.Sorted(maps.Keys(rt.policies)) {
		v := rt.policies[name].now
		var loops []analyzer.Loop
		for _, b := range v.bounds {
			loops = append(loops, analyzer.Loop{Name: b.loop.cfg.Name, Slots: int(b.loop.usable.Load())})
		}
		m := analyzer.Member{Spec: v.spec, Verified: v.verified}
		m.Spec.Mode = v.mode()
		if r := analyzer.OnSlots(m, loops); r != nil {
			all = append(all, *r)
		}
		if r := analyzer.OnLoops(m, loops); r != nil {
			all = append(all, *r)
		}
	}
	return all
}

// newRemarks returns the texts of the remarks not in told, by policy, and puts all into
// told. Called with regMu held.
func (rt *Runtime) newRemarks(told *[]string, remarks []analyzer.Remark) map[string][]string {
	texts, all := map[string][]string{}, []string(nil)
	for _, r := range remarks {
		text := r.Err.Error()
		if all = append(all, r.Name+": "+text); !slices.Contains(*told, r.Name+": "+text) {
			if of := rt.policies[r.Name]; of != nil {
				text = of.now.located(r.Err)
			}
			texts[r.Name] = append(texts[r.Name], text)
		}
	}
	*told = all
	return texts
}

// located returns the text of a warning, with its place in the document that declares the policy.
func (v *version) located(err error) string {
	f := failure{plainName(v.of.name), v.verified.Program(), v.from.Load(), err}
	return f.Error()
}

// warn logs warnings, a line for each policy.
func (rt *Runtime) warn(texts map[string][]string) {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		rt.log.add(slog.LevelWarn, "cocoon: policy may do something else than its author means", "policy", name, "warnings", texts[name])
	}
}

// unending returns the warnings about policies that throw into functions that documents keep from
// being unwound. Called with regMu held.
func (rt *Runtime) unending() []analyzer.Remark {
	var kept []document.Kept
	for _, of := range rt.documentsKeep {
		kept = append(kept, of...)
	}
	slices.SortFunc(kept, func(a, b document.Kept) int { return strings.Compare(a.Name, b.Name) })
	return analyzer.Unending(rt.members(), kept)
}

// tellDocument logs the analyzer's warnings about the declarations of a document that has come into
// force, unless the document before it had them. Called with regMu held.
func (rt *Runtime) tellDocument(was, is *loadedDocument) {
	var news []string
	for _, r := range analyzer.InDocument(is.source, rt.members(), rt.declarations()) {
		text := is.source.Refused(r.Part, r.Err)
		is.warnings = append(is.warnings, r.Part.String()+": "+r.Err.Error())
		if !slices.Contains(was.warnings, is.warnings[len(is.warnings)-1]) {
			news = append(news, document.InFile(text, cmp.Or(is.file, "document")).Error())
		}
	}
	rt.warn(rt.newRemarks(&rt.toldKept, rt.unending()))
	rt.tellIdle(was.source, is)
	if len(news) > 0 {
		rt.log.add(slog.LevelWarn, "cocoon: document may do something else than its author means", "file", is.file, "warnings", news)
	}
}

// tellIdle logs the policies of a document that decide nothing because of their modes, unless the
// document before it had the same: such a mode is easily forgotten. Called with regMu held.
func (rt *Runtime) tellIdle(was *document.Document, is *loadedDocument) {
	observe, off := withMode(is.source, Observe), withMode(is.source, Off)
	if len(observe)+len(off) == 0 || slices.Equal(observe, withMode(was, Observe)) && slices.Equal(off, withMode(was, Off)) {
		return
	}
	rt.log.add(slog.LevelInfo, "cocoon: policies of the document decide nothing, because of their modes", "file", is.file, "observe", observe, "off", off)
}

// withMode returns what a document calls its policies of a mode.
func withMode(d *document.Document, mode Mode) (names []string) {
	for _, s := range d.Policies {
		if s.Mode == mode {
			names = append(names, d.Called(s.Name))
		}
	}
	return names
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

// tellIdleStates logs the states that no policy writes, each once as long as this holds. Policies
// may be registered after the states, so the runtime logs them together with the unmet names. The
// same holds for the shares of tenants, and for warnings about what one policy writes for another.
func (rt *Runtime) tellIdleStates() {
	if t := rt.tenants.Load(); t != nil && len(t.listed) > 0 && !t.told {
		if err := analyzer.IdleShares(rt.members()); err != nil {
			t.told = true
			rt.log.add(slog.LevelWarn, "cocoon: tenants: "+err.Error())
		}
	}
	declared := analyzer.Declared{States: declarationsOf(*rt.states.Load())}
	if t := rt.tenants.Load(); t != nil {
		declared.Tenant, declared.Tenants = t.text, t.expected
	}
	rt.warn(rt.newRemarks(&rt.toldFlows, slices.Concat(analyzer.Flows(rt.members(), declared), rt.unsuspended(), rt.undatedTasks(), rt.unprioritized(), rt.otherKinds(), rt.unevaluated())))
	rt.tellUnread()
	names := rt.idleStates()
	news := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(rt.toldIdle, name) })
	if rt.toldIdle = names; len(news) > 0 {
		rt.log.add(slog.LevelWarn, "cocoon: no policy writes these states, or none but the first value, so they keep their first values", "states", news)
	}
}

// tellUnread logs the states that policies write, and that neither policies nor tasks have read.
func (rt *Runtime) tellUnread() {
	states := *rt.states.Load()
	names := slices.DeleteFunc(analyzer.Unread(rt.members(), declarationsOf(states)), func(name string) bool { return states[name].WasAsked() })
	news := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(rt.toldUnread, name) })
	if rt.toldUnread = names; len(news) > 0 {
		rt.log.add(slog.LevelWarn, "cocoon: policies write these states, and no policy and no task has read them", "states", news)
	}
}
