package analyzer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// misspeltLabels returns warnings about values of labels that differ only in capital letters, or by
// one slip of the keyboard, from a value that the documents name elsewhere: names are compared letter
// by letter. A policy that compares with both spellings expects both.
func misspeltLabels(members []Member, tasks map[string]document.Class) (all []Remark) {
	declared, compared := map[string][]string{}, make([]map[string][]string, len(members)) // values by label
	for _, name := range slices.Sorted(maps.Keys(tasks)) {
		for label, value := range tasks[name].Labels {
			declared[label] = append(declared[label], value)
		}
	}
	for i, m := range members {
		compared[i] = m.labelValues()
	}
	told := map[string]bool{}
	for i, m := range members {
		listed := m.listedValues()
		for _, label := range slices.Sorted(maps.Keys(compared[i])) {
			known := slices.Clone(declared[label])
			for j := range members {
				if j != i {
					known = append(known, compared[j][label]...)
				}
			}
			for _, value := range compared[i][label] {
				same := func(other string) bool {
					return other != value && (strings.EqualFold(other, value) || !listed[value] && slipped(value, other))
				}
				at := slices.IndexFunc(known, same)
				if at < 0 || slices.Contains(known, value) || slices.ContainsFunc(compared[i][label], same) || told[label+"="+known[at]] {
					continue
				}
				told[label+"="+value] = true
				all = append(all, m.aboutName(false, value, fmt.Sprintf("did you mean %q?", known[at]), "nothing else has the value %q of the label %s", value, label))
			}
		}
	}
	return all
}

// listedValues returns the names in long lists of the expression, such as a list of users, in which
// names that are nearly the same may all be right.
func (m Member) listedValues() map[string]bool {
	listed := map[string]bool{}
	for _, mention := range m.Verified.program.Mentions() {
		if mention.Listed {
			listed[mention.Name] = true
		}
	}
	return listed
}

// slipped reports whether one value is most likely a misspelling of the other. Short values may both
// be right, as gold and god.
func slipped(value, other string) bool {
	return min(len(value), len(other)) >= 5 && lang.Misspelt(value, []string{other}) != ""
}

// labelValues returns the values with which the expression compares labels, by label.
func (m Member) labelValues() map[string][]string {
	values := map[string][]string{}
	for _, mention := range m.Verified.program.Mentions() {
		r := mention.Read
		if (r.Stub == stubs.TaskLabels || r.Stub == stubs.ArrivingLabels) && mention.Name != "" && !slices.Contains(values[r.Key], mention.Name) {
			values[r.Key] = append(values[r.Key], mention.Name)
		}
	}
	return values
}
