package analyzer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

// quoted warns of each string that is the path of a stub, as a key or in a comparison.
func (a *analysis) quoted() {
	texts := slices.Collect(maps.Values(a.p.Names))
	keys := func(by *ir.KeyOf) {
		for i := 0; by != nil && i < len(by); i++ {
			if by[i].Constant && by[i].Type == stubs.Name {
				texts = append(texts, by[i].Text)
			}
		}
	}
	for _, r := range a.p.Reads {
		keys(r.By)
	}
	for _, s := range a.p.Sites {
		keys(s.By)
	}
	slices.Sort(texts)
	for _, text := range slices.Compact(texts) {
		if isPath(text) {
			a.warn(a.literal(text), "write it without quotes for the state stub", "%q is a name here, and no state stub", text)
		}
	}
}

// wholeNames warns of names of tasks and sections that are compared letter by letter, and that read
// like a pattern, or like the word of documents for all other tasks.
func (a *analysis) wholeNames() {
	mentions := a.p.Mentions()
	for _, r := range a.p.Reads {
		if r.Stub == stubs.TaskSections && r.Pattern == "" {
			mentions = append(mentions, ir.Mention{Read: r, Name: r.Key})
		}
	}
	told := map[string]bool{}
	for _, m := range mentions {
		switch m.Read.Stub {
		case stubs.TaskName, stubs.ArrivingName, stubs.TaskSection, stubs.TaskSections, stubs.TaskStack:
		default:
			continue
		}
		p, err := lang.ParsePattern(m.Name)
		if _, one := p.Name(); err != nil || told[m.Name] {
			continue
		} else if told[m.Name] = true; !one {
			a.warn(a.literal(m.Name), fmt.Sprintf("write in pattern(%q)", m.Name), "%q is compared letter by letter, and its stars stand for nothing else", m.Name)
		} else if m.Name == "default" && m.Read.Stub <= stubs.ArrivingName {
			a.warn(a.literal(m.Name), "write tasks: [default] in the match", "%q is a name here; it stands for all other tasks in documents alone", m.Name)
		}
	}
}

// everyName warns of a pattern that matches all names.
func (a *analysis) everyName() {
	for _, r := range a.p.Reads {
		if r.Type == stubs.Bool && r.Pattern != "" && strings.Trim(r.Pattern, "*") == "" {
			a.warn(a.literal(r.Pattern), "", "pattern(%q) matches all names, and the empty one", r.Pattern)
		}
	}
}

// isPath reports whether a text reads like a stub in an expression, as task.name, task.labels.user
// or task.labels["user"].
func isPath(text string) bool {
	if _, is := stubs.Lookup(text); is {
		return true
	}
	for i, c := range text {
		if c != '.' && c != '[' && c != '(' {
			continue
		}
		stub, is := stubs.Lookup(text[:i])
		if is && len(text) > i+1 && (stub.Keyed && c != '(' || stub.Quantile && c == '(') {
			return true
		}
	}
	return false
}

// literal returns the place of a string in the text, or of the whole expression.
func (a *analysis) literal(text string) *ir.Node {
	for _, quote := range []string{`"`, `'`, "`"} {
		if i := strings.Index(a.p.Text, quote+text+quote); i >= 0 {
			return &ir.Node{Pos: i, End: i + len(text) + 2}
		}
	}
	return a.p.Root
}
