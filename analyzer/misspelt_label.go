package analyzer

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// spelling is one spelling of a label's value, and the policy that compares with it.
type spelling struct {
	value string
	by    int // the index of the policy, or -1 for the labels of declared tasks
}

// misspeltLabels returns warnings about values of labels that differ only in capital letters from a
// value that the documents name elsewhere: names are compared letter by letter. A policy that
// compares with both spellings expects both.
func misspeltLabels(members []Member, tasks map[string]document.Class) (all []Remark) {
	spellings := map[[2]string][]spelling{} // by label and letters; lists have thousands of values
	add := func(by int, label, value string) {
		key := [2]string{label, folded(value)}
		spellings[key] = append(spellings[key], spelling{value, by})
	}
	for _, name := range slices.Sorted(maps.Keys(tasks)) {
		for label, value := range tasks[name].Labels {
			add(-1, label, value)
		}
	}
	compared := make([]map[string][]string, len(members))
	for i, m := range members {
		compared[i] = m.labelValues()
		for label, values := range compared[i] {
			for _, value := range values {
				add(i, label, value)
			}
		}
	}
	told := map[string]bool{}
	for i, m := range members {
		for _, label := range slices.Sorted(maps.Keys(compared[i])) {
			for _, value := range compared[i][label] {
				known := spellings[[2]string{label, folded(value)}]
				at := slices.IndexFunc(known, func(s spelling) bool { return s.by != i && s.value != value })
				expected := func(s spelling) bool { return (s.by == i) != (s.value == value) }
				if at < 0 || slices.ContainsFunc(known, expected) || told[label+"="+known[at].value] {
					continue
				}
				told[label+"="+value] = true
				all = append(all, m.aboutName(false, value, fmt.Sprintf("did you mean %q?", known[at].value), "nothing else has the value %q of the label %s", value, label))
			}
		}
	}
	return all
}

// folded returns the same text for all spellings that strings.EqualFold takes for equal.
func folded(text string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, text)
}

// labelValues returns the values with which the expression compares labels, by label, each once.
func (m Member) labelValues() map[string][]string {
	type labelled struct{ label, value string }
	values, seen := map[string][]string{}, map[labelled]bool{}
	for _, mention := range m.Verified.program.Mentions() {
		r := mention.Read
		at := labelled{r.Key, mention.Name}
		if (r.Stub == stubs.TaskLabels || r.Stub == stubs.ArrivingLabels) && mention.Name != "" && !seen[at] {
			seen[at] = true
			values[r.Key] = append(values[r.Key], mention.Name)
		}
	}
	return values
}
