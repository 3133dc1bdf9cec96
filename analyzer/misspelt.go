package analyzer

import (
	"maps"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// misspelt returns warnings about names in matches and expressions that nothing else names, and that
// are most likely misspellings of a name in other places of the documents. It looks only at the
// documents: they do not know which names tasks will have.
func misspelt(members []Member, tasks map[string]document.Class) (all []Remark) {
	named := map[string]int{} // how often
	note := func(names ...string) {
		for _, name := range names {
			named[name]++
		}
	}
	note(slices.Collect(maps.Keys(tasks))...)
	for _, m := range members {
		names := slices.Sorted(slices.Values(m.names()))
		note(slices.Compact(names)...)
	}
	names, kinds, told := slices.Sorted(maps.Keys(named)), slices.Sorted(maps.Keys(tasks)), map[string]bool{}
	for _, m := range members {
		for i, name := range m.names() {
			where := "match: "
			if i >= len(m.Spec.Match.Tasks)+len(m.Spec.Match.Except) {
				where = ""
			}
			if bare, calls := strings.CutSuffix(name, "()"); calls && !told[name] {
				told[name] = true
				all = append(all, m.about("%s%q ends in (), and names of functions do not; write %q", where, name, bare))
				continue
			}
			s := ""
			if where != "" {
				s = lang.Misspelt(name, names)
			}
			if _, is := tasks[name]; s == "" && !is && !slices.ContainsFunc(kinds, func(k string) bool { return isPattern(k) && fits(k, name) }) {
				s = lang.Resembles(name, kinds)
			}
			if named[name] == 1 && s != "" && !told[s] && !told[name] {
				told[name] = true
				all = append(all, m.about("%snothing else names %q; did you mean %q?", where, name, s))
			}
		}
	}
	return all
}

// names returns the names in the match of a policy, and then those in its expression.
func (m Member) names() []string {
	return slices.Concat(m.Spec.Match.Tasks, m.Spec.Match.Except, m.mentioned())
}

// fits reports whether a pattern matches a name.
func fits(pattern, name string) bool {
	p, err := lang.ParsePattern(pattern)
	return err == nil && p.Matches(name)
}

// mentioned returns the names of tasks and sections in the expression.
func (m Member) mentioned() (names []string) {
	ofTask := []stubs.ID{stubs.TaskName, stubs.TaskSection, stubs.TaskStack, stubs.ArrivingName}
	for _, mention := range m.Verified.program.Mentions() {
		if slices.Contains(ofTask, mention.Read.Stub) {
			names = append(names, mention.Name)
		}
	}
	for _, r := range m.Verified.program.Reads {
		if r.Stub == stubs.TaskSections && r.Pattern == "" {
			names = append(names, r.Key)
		} else if r.Pattern != "" && slices.Contains(ofTask, r.Stub) {
			names = append(names, r.Pattern)
		}
	}
	return names
}
