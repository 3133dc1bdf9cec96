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
// one slip of the keyboard, from a value that the documents name elsewhere: names are compared
// letter by letter. A policy that compares with both spellings expects both.
func misspeltLabels(members []Member, tasks map[string]document.Class) (all []Remark) {
	known, told := map[string]*labelNames{}, map[string]bool{} // by label
	of := func(label string) *labelNames {
		if known[label] == nil {
			known[label] = &labelNames{places: map[string]int{}, folded: map[string][]string{}}
		}
		return known[label]
	}
	for _, name := range slices.Sorted(maps.Keys(tasks)) {
		for label, value := range tasks[name].Labels {
			of(label).add(value, false)
		}
	}
	compared, listed := make([]map[string][]string, len(members)), make([]map[string]bool, len(members))
	for i, m := range members {
		compared[i], listed[i] = m.labelValues(), m.listedValues()
		for label, values := range compared[i] {
			for _, value := range values {
				of(label).add(value, listed[i][value])
			}
		}
	}
	for i, m := range members {
		for _, label := range slices.Sorted(maps.Keys(compared[i])) {
			own := map[string]bool{} // which the policy expects
			for _, value := range compared[i][label] {
				own[value] = true
			}
			for _, value := range compared[i][label] {
				other := of(label).like(value, own, listed[i][value])
				if other == "" || told[label+"="+other] {
					continue
				}
				told[label+"="+value] = true
				all = append(all, m.aboutName(false, value, fmt.Sprintf("did you mean %q?", other), "nothing else has the value %q of the label %s", value, label))
			}
		}
	}
	return all
}

// labelNames are the values of one label that documents name. A list may have thousands, so they
// are found by maps.
type labelNames struct {
	places map[string]int      // in how many policies and declarations a value stands
	folded map[string][]string // values by their small letters
	few    []string            // the values outside of long lists
}

func (l *labelNames) add(value string, listed bool) {
	if l.places[value]++; l.places[value] == 1 {
		small := strings.ToLower(value)
		l.folded[small] = append(l.folded[small], value)
	}
	if !listed && !slices.Contains(l.few, value) {
		l.few = append(l.few, value)
	}
}

// like returns a value of which a value that stands in one place is most likely a misspelling, or
// "". own are the values of the same policy.
func (l *labelNames) like(value string, own map[string]bool, listed bool) string {
	if l.places[value] > 1 {
		return ""
	}
	small := slices.DeleteFunc(slices.Clone(l.folded[strings.ToLower(value)]), func(o string) bool { return o == value })
	if slices.ContainsFunc(small, func(o string) bool { return own[o] }) {
		return ""
	}
	if len(small) > 0 {
		return small[0]
	}
	if listed {
		return ""
	}
	i := slices.IndexFunc(l.few, func(o string) bool { return !own[o] && slipped(value, o) })
	if i < 0 {
		return ""
	}
	return l.few[i]
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

// slipped reports whether one value is most likely a misspelling of the other. Short values may
// both be right, as gold and god.
func slipped(value, other string) bool {
	return min(len(value), len(other)) >= 5 && lang.Misspelt(value, []string{other}) != ""
}

// labelValues returns the values with which the expression compares labels, by label.
func (m Member) labelValues() map[string][]string {
	values, seen := map[string][]string{}, map[[2]string]bool{}
	for _, mention := range m.Verified.program.Mentions() {
		r := mention.Read
		if (r.Stub == stubs.TaskLabels || r.Stub == stubs.ArrivingLabels) && mention.Name != "" && !seen[[2]string{r.Key, mention.Name}] {
			seen[[2]string{r.Key, mention.Name}] = true
			values[r.Key] = append(values[r.Key], mention.Name)
		}
	}
	return values
}
