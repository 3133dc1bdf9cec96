package document

import (
	"fmt"
	"slices"

	"github.com/cocoon-go/cocoon/policy"
)

// Default is the name in documents for the tasks that no other entry of its kind matches: no other
// key of tasks, no other limit, no match.tasks of another policy.
const Default = "default"

// specOf returns the policy of the limit i.
func specOf(limits []policy.TimeLimit, i int) (policy.Spec, error) {
	if limits[i].Func != Default {
		return limits[i].Spec()
	}
	var others []string
	for _, l := range limits {
		if l.Func != Default {
			others = append(others, l.Func)
		}
	}
	return limitOfOthers(limits[i], others)
}

// limitOfOthers is the limit for tasks that no other limit of a document matches.
func limitOfOthers(l policy.TimeLimit, others []string) (policy.Spec, error) {
	if l.Reason == "" {
		l.Reason = fmt.Sprintf("it ran longer than %v", l.Limit)
	}
	s, err := l.Spec()
	s.Match.Except = others
	s.Expr = fmt.Sprintf(`task.running > duration(%q) ? throw(%q) : continue()`, l.Limit, l.Reason)
	return s, err
}

// maxDefaults is the greatest number of policies of a document that match Default: each holds a
// list of the names that the other policies match.
const maxDefaults = 64

// matchOthers makes the policies that match Default match the tasks that no other policy does. An
// error is about the policy at.
func matchOthers(specs []policy.Spec) (at int, err error) {
	var named []string // by some policy
	defaults := 0
	for i, s := range specs {
		if slices.Contains(s.Match.Except, Default) {
			return i, fmt.Errorf("policy %q: match: except: %s stands for tasks in match.tasks only; list the names to leave out", s.Name, Default)
		}
		if slices.Contains(s.Match.Tasks, Default) {
			if slices.Contains(s.Match.Tasks, "*") {
				return i, fmt.Errorf(`policy %q: match: tasks: "*" includes %s; write one of them`, s.Name, Default)
			}
			if defaults++; defaults > maxDefaults {
				return i, fmt.Errorf("more than %d policies match %s", maxDefaults, Default)
			}
		}
		for _, name := range s.Match.Tasks {
			if name != Default && name != "*" {
				named = append(named, name)
			}
		}
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
	return 0, nil
}
