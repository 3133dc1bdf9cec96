package analyzer

import (
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// misspelt returns warnings about names in matches that nothing else names and are most
// likely misspellings of a name that the documents have elsewhere. Only the documents are looked
// at: which names tasks have in the end, they do not know.
func misspelt(members []Member, tasks map[string]document.Class) (all []Remark) {
	named := map[string]int{} // how often
	note := func(names ...string) {
		for _, name := range names {
			named[name]++
		}
	}
	note(slices.Collect(maps.Keys(tasks))...)
	for _, m := range members {
		note(slices.Concat(m.Spec.Match.Tasks, m.Spec.Match.Except, m.mentioned())...)
	}
	names, told := slices.Sorted(maps.Keys(named)), map[string]bool{}
	for _, m := range members {
		for _, name := range slices.Concat(m.Spec.Match.Tasks, m.Spec.Match.Except) {
			if s := lang.Misspelt(name, names); named[name] == 1 && s != "" && !told[s] {
				told[name] = true
				all = append(all, m.about("match: nothing else names %q; did you mean %q?", name, s))
			}
		}
	}
	return all
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
