package analyzer

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// misspelt returns warnings about names in matches and expressions that nothing else names, and
// that are most likely misspellings of a name in other places of the documents. It looks only at
// the documents: they do not know which names tasks will have.
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
	names, known, told := lang.NewSpellings(slices.Sorted(maps.Keys(named))), declaredNames(tasks), map[string]bool{}
	judge := func(m Member, matched bool, name string) {
		bare, calls := strings.CutSuffix(name, "()")
		method, path, request := strings.Cut(name, " /")
		switch {
		case told[name]:
			return
		case calls:
			told[name] = true
			all = append(all, m.aboutName(matched, name, "write "+strconv.Quote(bare), "%q ends in (), and names of functions do not", name))
			return
		case request && method != strings.ToUpper(method) && slices.Contains(methods, strings.ToLower(method)):
			told[name] = true
			all = append(all, m.aboutName(matched, name, "write "+strconv.Quote(strings.ToUpper(method)+" /"+path), "%q has its method in small letters, and requests do not", name))
			return
		case expression(name):
			told[name] = true
			all = append(all, m.aboutName(matched, name, "name each task, or write * for any characters", "%q is written like a regular expression, and stands for itself", name))
			return
		case request && strings.Contains(path, "?"):
			told[name] = true
			all = append(all, m.aboutName(matched, name, "leave it out", "%q has a query or a question mark, and names of requests have none", name))
			return
		}
		if request := known.methodless(name); request != "" {
			method, _, _ := strings.Cut(request, " /")
			told[name] = true
			all = append(all, m.aboutName(matched, name, "write "+strconv.Quote(method+" "+name), "%q matches no declared task, and names of requests begin with a method, as %q does", name, request))
			return
		}
		if named[name] > 1 {
			return
		}
		s := known.like(name)
		if s == "" && (matched || !m.lists(name)) {
			s = names.Misspelt(name)
		}
		if s != "" && !told[s] {
			told[name] = true
			all = append(all, m.aboutName(matched, name, fmt.Sprintf("did you mean %q?", s), "nothing else names %q", name))
		}
	}
	for _, matched := range []bool{true, false} { // of two names, the one in a match is most likely wrong
		for _, m := range members {
			n := len(m.Spec.Match.Tasks) + len(m.Spec.Match.Except)
			for i, name := range m.names() {
				if matched == (i < n) {
					judge(m, matched, name)
				}
			}
		}
	}
	return all
}

// methods are the usual methods of requests, in small letters.
var methods = []string{"get", "head", "post", "put", "patch", "delete", "options"}

// lists reports whether the expression has the name in a list, of which most names may never occur.
func (m Member) lists(name string) bool {
	return slices.ContainsFunc(m.Verified.program.Mentions(), func(o ir.Mention) bool { return o.Listed && o.Name == name })
}

// aboutName returns a warning about a name in the match of a policy, or in its expression.
func (m Member) aboutName(matched bool, name, hint, format string, args ...any) Remark {
	if matched {
		return m.about("match: %s; %s", fmt.Sprintf(format, args...), hint)
	}
	p := m.Verified.program
	for _, quoted := range []string{strconv.Quote(name), "'" + name + "'"} {
		if at := strings.Index(p.Text, quoted); at >= 0 {
			return m.remark(&ir.Node{Pos: at, End: at + len(quoted)}, hint, format, args...)
		}
	}
	return m.about("%s; %s", fmt.Sprintf(format, args...), hint)
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
	names, plain, told := slices.Sorted(maps.Keys(named)), map[string][]string{}, map[string]bool{}
	for _, name := range names {
		plain[lang.Plain(name)] = append(plain[lang.Plain(name)], name)
	}
	spellings := lang.NewSpellings(names)
	for _, m := range members {
		for i, name := range m.loops() {
			if named[name] > 1 || name == "default" {
				continue
			}
			like := spellings.Misspelt(name)
			if same := plain[lang.Plain(name)]; like == "" && len(same) > 1 {
				like = same[0]
				if like == name {
					like = same[1]
				}
			}
			if like != "" && !told[like] {
				told[name] = true
				all = append(all, m.aboutName(i < len(m.Spec.Match.Loops), name, fmt.Sprintf("did you mean %q?", like), "nothing else names the loop %q", name))
			}
		}
	}
	return all
}

// loops returns the names in the loops of the match of a policy, and then the names that its
// expression compares with loop.name.
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
	sorted   []string
	names    []string // without a star
	patterns []lang.Pattern
	plain    map[string]string // by the plain name, or by the path of a request
}

func declaredNames(tasks map[string]document.Class) *declaration {
	d := &declaration{tasks: tasks, sorted: slices.Sorted(maps.Keys(tasks)), plain: map[string]string{}}
	for _, name := range d.sorted {
		if lang.MatchesAll(name) {
			continue // which tells nothing of a name
		}
		if p, err := lang.ParsePattern(name); err == nil && isPattern(name) {
			d.patterns = append(d.patterns, p)
			continue
		}
		d.names = append(d.names, name)
		d.plain[lang.Plain(name)] = name
		d.plain["{"+unnamed(name)] = name
		if _, path, ok := strings.Cut(name, " /"); ok {
			d.plain["/"+path] = name
		}
	}
	return d
}

// like returns a declared name that a name most likely is, written otherwise: in other letters of
// case, with a slash at its end, as a plural, with a letter too many or missing at its end, with
// other names of its wildcards, with numbers in their place, or without the method of a request. It
// returns "" if there is none, or if the documents declare the name itself.
func (d *declaration) like(name string) string {
	if _, is := d.tasks[name]; is || isPattern(name) || slices.ContainsFunc(d.patterns, func(p lang.Pattern) bool { return p.Matches(name) }) {
		return ""
	}
	if s := d.plain[name]; s != "" {
		return s
	}
	if s := d.plain[lang.Plain(name)]; s != "" {
		return s
	}
	if s := d.plain["{"+unnamed(name)]; s != "" && s != name && strings.Contains(name, "{") {
		return s
	}
	if s := d.plain["{"+foreign.ReplaceAllString(name, "/{}")]; s != "" && foreign.MatchString(name) {
		return s
	}
	if s := d.plain["{"+numbered.ReplaceAllString(name, "/{}$1")]; s != "" && numbered.MatchString(name) {
		return s
	}
	for _, s := range d.sorted {
		if lang.CutShort(name, s) || lang.CutShort(s, name) {
			return s
		}
	}
	return ""
}

// wildcard is a named wildcard in the pattern of a request. A router accepts one name for it.
var wildcard = regexp.MustCompile(`\{\w+(\.\.\.)?\}`)

// numbered is a number in the path of a request, where its route has a wildcard.
var numbered = regexp.MustCompile(`/[0-9]+(/|$)`)

// foreign is a wildcard as other routers write it, such as :id or <int:id>.
var foreign = regexp.MustCompile(`/(:\w+|<(\w+:)?\w+>)`)

// expression reports whether a name is written like a regular expression.
func expression(name string) bool {
	return strings.HasPrefix(name, "^") || strings.HasSuffix(name, "$") || strings.Contains(name, " /") && alternatives.MatchString(name)
}

var alternatives = regexp.MustCompile(`\([^()]*\|[^()]*\)`)

// unnamed returns a name without the names of its wildcards.
func unnamed(name string) string { return wildcard.ReplaceAllString(name, "{$1}") }

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
