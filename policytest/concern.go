package policytest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// concerns returns the reason why a policy is not evaluated for the event, or "".
func (w *world) concerns(c *compiled) string {
	t := c.spec.On
	switch {
	case w.out[c] != "":
		return w.out[c]
	case c.spec.Mode == policy.Off:
		return "its mode is off"
	case t.Set()&w.on == 0:
		return "it is evaluated on " + t.Set().String()
	case w.on == stubs.Custom && t.Custom != "" && t.Custom != w.custom:
		return fmt.Sprintf("it is evaluated on the event %q", t.Custom)
	}
	name, kind := stubs.TaskName, stubs.TaskKind
	if w.on == stubs.Enqueue {
		name, kind = stubs.ArrivingName, stubs.ArrivingKind
	}
	for _, m := range []struct {
		list []string
		id   stubs.ID
	}{{c.spec.Match.Loops, stubs.LoopName}, {c.spec.Match.Tasks, name}, {c.spec.Match.Kinds, kind}} {
		path := stubs.Catalogue[m.id].Path
		has := w.stub(m.id).(string)
		switch selector := c.selector; {
		case m.id != stubs.LoopName && w.on&(stubs.Tick|stubs.Custom)&^c.program.ForEach() != 0:
			// about no task: evaluated once for the loop
		case m.id == name && selector != nil:
			if !selector.Selects(has) {
				return matchesAlone(c.spec.Match, path, has)
			}
		case len(m.list) > 0 && !slices.Contains(m.list, has):
			return fmt.Sprintf("it matches %s alone, and %s is %q", strings.Join(m.list, ", "), path, has)
		}
	}
	return ""
}

// matchesAlone describes the names that a policy with patterns or exceptions matches.
func matchesAlone(m policy.Match, path, has string) string {
	in := strings.Join(m.Tasks, ", ")
	if in == "" {
		in = "all"
	}
	if len(m.Except) > 0 {
		in += " but " + strings.Join(m.Except, ", ")
	}
	return fmt.Sprintf("it matches %s alone, and %s is %q", in, path, has)
}
