package policy

import (
	"fmt"
	"slices"
)

// Default is the name that stands, in documents, for the tasks that nothing else of the same place
// is about: no other of tasks, of limits, or of the match.tasks of policies.
const Default = "default"

// specOf returns the policy of the limit i.
func specOf(limits []TimeLimit, i int) (Spec, error) {
	if limits[i].Func != Default {
		return limits[i].Spec()
	}
	var others []string
	for _, l := range limits {
		if l.Func != Default {
			others = append(others, l.Func)
		}
	}
	return limits[i].ofOthers(others)
}

// maxDefaults bounds the policies of a document that match Default: each has a list of what the
// others match.
const maxDefaults = 64

// matchOthers has the policies that match Default match what no other policy does.
func matchOthers(specs []Spec) error {
	var named []string // by some policy
	defaults := 0
	for _, s := range specs {
		if slices.Contains(s.Match.Tasks, Default) {
			defaults++
		}
		for _, name := range s.Match.Tasks {
			if name != Default && name != "*" {
				named = append(named, name)
			}
		}
	}
	if defaults > maxDefaults {
		return fmt.Errorf("%d policies match %s, and %d may", defaults, Default, maxDefaults)
	}
	slices.Sort(named)
	named = slices.Compact(named)
	for i := range specs {
		m := &specs[i].Match
		at := slices.Index(m.Tasks, Default)
		if at < 0 {
			continue
		}
		own := map[string]bool{}
		for _, name := range slices.Concat(m.Tasks, m.Except) {
			own[name] = true
		}
		m.Tasks[at] = "*"
		for _, name := range named {
			if !own[name] {
				m.Except = append(m.Except, name)
			}
		}
	}
	return nil
}
