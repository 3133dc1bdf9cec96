package cocoon

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// unsuspended returns warnings about policies that switch tasks out or move them to the background,
// and that can take no slot from a task, because of the kinds of all tasks that have come. Kinds
// registered or declared for other names count, too: such tasks may still come. Called with
// regMu held.
func (rt *Runtime) unsuspended() (all []analyzer.Remark) {
	for name, v := range rt.switchedOn() {
		does := ""
		p := v.verified.Program()
		switch {
		case p.MaySwitch():
			does = "switch() suspends no task"
		case p.On&stubs.Enqueue != 0 && p.AsksRunning():
			does = "on enqueue task.* is 0 or empty, because the policy sees running tasks that may be suspended"
		case p.Demotes():
			does = "background() takes no slot from a task before its block or its end"
		}
		if does == "" {
			continue
		}
		why := ""
		switch met, preemptible, safe := rt.suspends(v); {
		case !met:
		case !preemptible:
			why = "none of the tasks that have come is preemptible; declare the long ones preemptible"
		case !safe && p.MaySwitch() || !safe && p.Demotes():
			why = "none of the tasks that have come is safe, and only safe tasks start while another is suspended; declare the short ones safe"
		}
		if why != "" {
			all = append(all, analyzer.Remark{Part: document.Part{Kind: "policy", Name: name}, Err: errors.New(does + ": " + why)})
		}
	}
	return all
}

// undatedTasks returns warnings about policies that do nothing for tasks without a deadline, if
// none of the tasks that have come has one: the contexts of requests have none by themselves.
// Called with regMu held.
func (rt *Runtime) undatedTasks() (all []analyzer.Remark) {
	if rt.dated.Load() || !rt.undated.Load() {
		return nil
	}
	for name, v := range rt.switchedOn() {
		if met, _, _ := rt.suspends(v); !met || !v.verified.NeedsDeadline() {
			continue
		}
		all = append(all, analyzer.Remark{Part: document.Part{Kind: "policy", Name: name},
			Err: errors.New("the policy is about deadlines, and none of the tasks that have come has one; give their contexts deadlines, as context.WithTimeout does")})
	}
	return all
}

// unprioritized returns warnings about policies that do nothing for tasks of the priorities that
// tasks can have: 0, the priorities in documents, and what WithPriority has given.
// Called with regMu held.
func (rt *Runtime) unprioritized() (all []analyzer.Remark) {
	least, most := min(0, givenPriorities.least.Load()), max(0, givenPriorities.most.Load())
	for _, d := range rt.naming.declared {
		for _, a := range d.attrs {
			if a.what == priorityAttr {
				least, most = min(least, int32(a.number)), max(most, int32(a.number))
			}
		}
	}
	why := "the policy is about priorities, and no task has one; set them by priority in tasks, or by WithPriority"
	if least < most {
		why = fmt.Sprintf("the policy is about priorities other than those of the tasks, which are %d to %d", least, most)
	}
	for name, v := range rt.switchedOn() {
		if met, _, _ := rt.suspends(v); met && v.verified.NeedsPriority(least, most) {
			all = append(all, analyzer.Remark{Part: document.Part{Kind: "policy", Name: name}, Err: errors.New(why)})
		}
	}
	return all
}

// suspends reports whether the policy has met a task, and whether there are preemptible ones among
// the tasks that it is about, and safe ones among all. Called with regMu held.
func (rt *Runtime) suspends(v *version) (met, preemptible, safe bool) {
	arrives := v.verified.Program().On&stubs.Enqueue != 0 // its match is about the arriving task
	rt.naming.eachKind(selects(v.spec.Match), func(k Kind, come, about bool) {
		met = met || come && about
		preemptible = preemptible || k&Preemptible != 0 && (about || arrives)
		safe = safe || k&Safe != 0
	})
	return met, preemptible, safe
}

// eachKind calls visit with the kind of each name that has come, is registered or is declared,
// whether a task of the name has come, and whether about holds for it. Of a declared pattern it may
// hold for some names.
func (n *naming) eachKind(about func(name string) bool, visit func(k Kind, come, about bool)) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	n.classes.Range(func(_, value any) bool {
		if c := value.(*class); c.met.Load() {
			visit(Kind(c.kind.Load()), true, about(c.text))
		}
		return true
	})
	for name, k := range n.registered {
		visit(k, false, about(name))
	}
	for _, d := range n.declared {
		name, whole := d.pattern.Name()
		visit(d.kind, false, !whole || about(name))
	}
}

// switchedOn returns the policies in force by name, except policies in mode off. Called with regMu
// held.
func (rt *Runtime) switchedOn() iter.Seq2[string, *version] {
	return func(yield func(string, *version) bool) {
		for _, name := range slices.Sorted(maps.Keys(rt.policies)) {
			if v := rt.policies[name].now; v.spec.Mode != Off && !yield(name, v) {
				return
			}
		}
	}
}

// selects returns whether a match is about the tasks of a name.
func selects(m policy.Match) func(name string) bool {
	selector := m.Selector()
	return func(name string) bool {
		if selector != nil {
			return selector.Selects(name)
		}
		return len(m.Tasks) == 0 || slices.Contains(m.Tasks, name)
	}
}
