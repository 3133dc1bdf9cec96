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
	names, known, told := slices.Sorted(maps.Keys(named)), declaredNames(tasks), map[string]bool{}
	for _, m := range members {
		for i, name := range m.names() {
			where, s := "match: ", ""
			if i >= len(m.Spec.Match.Tasks)+len(m.Spec.Match.Except) {
				where = ""
			}
			bare, calls := strings.CutSuffix(name, "()")
			switch {
			case told[name], !calls && named[name] > 1:
				continue
			case calls:
				told[name] = true
				all = append(all, m.about("%s%q ends in (), and names of functions do not; write %q", where, name, bare))
				continue
			case where != "":
				s = lang.Misspelt(name, names)
			}
			if s == "" {
				s = known.like(name)
			}
			if s != "" && !told[s] {
				told[name] = true
				all = append(all, m.about("%snothing else names %q; did you mean %q?", where, name, s))
			}
		}
	}
	return all
}

// misspeltLoops returns warnings about names of loops that nothing else names, and that are most
// likely misspellings of "default" or of a loop that the documents name elsewhere. Programs make
// loops, so documents do not know which there are.
func misspeltLoops(members []Member) (all []Remark) {
	named := map[string]int{"default": 1}
	for _, m := range members {
		for _, name := range m.loops() {
			named[name]++
		}
	}
	names, told := slices.Sorted(maps.Keys(named)), map[string]bool{}
	for _, m := range members {
		for i, name := range m.loops() {
			where := ""
			if i < len(m.Spec.Match.Loops) {
				where = "match: "
			}
			others := slices.DeleteFunc(slices.Clone(names), func(o string) bool { return o == name })
			like := lang.Misspelt(name, others)
			if i := slices.IndexFunc(others, func(o string) bool { return lang.Plain(o) == lang.Plain(name) }); like == "" && i >= 0 {
				like = others[i]
			}
			if like != "" && !told[like] && named[name] == 1 && name != "default" {
				told[name] = true
				all = append(all, m.about("%snothing else names the loop %q; did you mean %q?", where, name, like))
			}
		}
	}
	return all
}

// loops returns the names in the loops of the match of a policy, and then those that its expression
// compares with loop.name.
func (m Member) loops() (names []string) {
	names = slices.Clone(m.Spec.Match.Loops)
	for _, mention := range m.Verified.program.Mentions() {
		if mention.Read.Stub == stubs.LoopName && !slices.Contains(names, mention.Name) {
			names = append(names, mention.Name)
		}
	}
	return names
}

// declaration are the names of tasks that documents declare.
type declaration struct {
	tasks    map[string]document.Class
	patterns []lang.Pattern
	plain    map[string]string // by the plain name, or by the path of a request
}

func declaredNames(tasks map[string]document.Class) *declaration {
	d := &declaration{tasks: tasks, plain: map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(tasks)) {
		if p, err := lang.ParsePattern(name); err == nil && isPattern(name) {
			d.patterns = append(d.patterns, p)
			continue
		}
		d.plain[lang.Plain(name)] = name
		if _, path, ok := strings.Cut(name, " /"); ok {
			d.plain["/"+path] = name
		}
	}
	return d
}

// like returns a declared name that a name most likely is, written otherwise: in other letters of
// case, with a slash at its end, as a plural, or without the method of a request. It returns "" if
// there is none, or if the documents declare the name itself.
func (d *declaration) like(name string) string {
	if _, is := d.tasks[name]; is || isPattern(name) || slices.ContainsFunc(d.patterns, func(p lang.Pattern) bool { return p.Matches(name) }) {
		return ""
	}
	if s := d.plain[name]; s != "" {
		return s
	}
	return d.plain[lang.Plain(name)]
}

// names returns the names in the match of a policy, and then those in its expression.
func (m Member) names() []string {
	return slices.Concat(m.Spec.Match.Tasks, m.Spec.Match.Except, m.mentioned())
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
