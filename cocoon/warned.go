package cocoon

import (
	"cmp"
	"log/slog"
	"slices"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/policy/document"
)

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
	rt.lookSoon() // the functions to keep may be others
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
// same holds for the shares of tenants, and for warnings about what one policy writes for another:
// flows has them, of the policies in s. Called with regMu held.
func (rt *Runtime) tellIdleStates(s *sight, flows []analyzer.Remark) {
	if t := rt.tenants.Load(); t != nil && len(t.listed) > 0 && !t.told {
		if err := analyzer.IdleShares(rt.members()); err != nil {
			t.told = true
			rt.log.add(slog.LevelWarn, "cocoon: tenants: "+err.Error())
		}
	}
	rt.warn(rt.newRemarks(&rt.toldFlows, slices.Concat(flows, rt.unsuspended(), rt.undatedTasks(), rt.unprioritized(), rt.otherKinds(), rt.unevaluated()), s.versions))
	rt.tellUnread()
	names := rt.idleStates()
	news := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(rt.toldIdle, name) })
	if rt.toldIdle = names; len(news) > 0 {
		rt.log.add(slog.LevelWarn, "cocoon: no policy writes these states, or none but the first value, so they keep their first values", "states", news)
	}
}

// flows returns the policies in force, and the warnings about what one policy writes for another.
// With many policies that takes long, so regMu is free meanwhile.
func (rt *Runtime) flows() (s *sight, all []analyzer.Remark) {
	rt.regMu.Lock()
	s = rt.sight()
	declared := analyzer.Declared{States: declarationsOf(*rt.states.Load())}
	if t := rt.tenants.Load(); t != nil {
		declared.Tenant, declared.Tenants, declared.Accounts = t.text, t.expected, t.most+len(t.listed)
	}
	rt.regMu.Unlock()
	return s, analyzer.Flows(s.members, declared)
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
