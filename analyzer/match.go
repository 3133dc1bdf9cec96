package analyzer

import (
	"fmt"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// narrowed returns the warnings about a verified program for the values that its events, its Match
// and its custom event allow; all are the warnings without these. It follows the program once or
// twice more: first with the facts of the events and of names that are compared with patterns, and
// then with the names that the Match lets through; and once more if the program reads stubs that
// are related. These facts are only for warnings: they serve no proof.
func narrowed(p *ir.Program, limits Limits, all []Warning) []Warning {
	all = followed(p, limits, all, nil)
	return besidesRelated(p, limits, followed(p, limits, all, &limits.Match))
}

// followed follows the program once more, with the facts of the events and, unless match is nil,
// with the facts of the match. It returns all if there are no such facts.
func followed(p *ir.Program, limits Limits, all []Warning, match *policy.Match) []Warning {
	a := newAnalysis(p, limits.Interval)
	a.declared = limits.Match
	a.lenient, a.matched, a.match = true, map[stubs.NameID]string{}, match
	some := a.tieNames()
	if match == nil {
		some = a.learnEvents() || some
	} else {
		a.learnEvents()
		some = a.learnMatch(*match)
		some = a.learnEvent(limits.Custom) || some
	}
	if !some {
		return all
	}
	if a.statement(p.Root); a.err == nil {
		a.review()
	}
	if a.err != nil {
		return all
	}
	for i, w := range a.warnings {
		if k := slices.IndexFunc(all, func(v Warning) bool { return v.Pos == w.Pos && v.Reason == w.Reason }); k >= 0 {
			a.warnings[i] = all[k] // it has nothing to do with the match
		}
	}
	return a.warnings
}

// unmatched warns of a match of tasks that has no effect, because the policy has no task: it is
// evaluated once for each loop.
func unmatched(p *ir.Program, m policy.Match) []Warning {
	on := p.On & (stubs.Tick | stubs.Custom) &^ p.ForEach()
	if on == 0 || len(m.Tasks)+len(m.Except)+len(m.Kinds) == 0 {
		return nil
	}
	reason := fmt.Sprintf("match: tasks, except and kinds do nothing on %s: the policy is about no task, and is evaluated once for each loop", on)
	return []Warning{{p.Errorf(p.Root, "remove them, or compare task.name and task.kind in the expression", "%s", reason)}}
}

// learnMatch adds the facts about names and kinds that hold for tasks that the match lets through,
// and reports whether the program depends on any such name or kind.
func (a *analysis) learnMatch(m policy.Match) (some bool) {
	if len(m.Kinds) > 0 && a.p.On&stubs.Enqueue == 0 && a.p.MaySwitch() {
		a.kinds, some = kindsOf(m), true
	}
	learn := func(r ir.Read, v value) {
		a.facts.learn(a.facts.read(r), v)
		some = true
	}
	for _, r := range a.p.Reads {
		switch stub, of := r.Name().Stub, matchedOn(a.p.On, r.Stub); {
		case stub == stubs.LoopName && len(m.Loops) > 0:
			a.learnName(r, policy.Match{Tasks: m.Loops}, learn)
		case of == stubs.TaskName && len(m.Tasks)+len(m.Except) > 0:
			a.learnName(r, m, learn)
		case of == stubs.TaskKind && len(m.Kinds) > 0:
			learn(r, nameValue(kindsOf(m)))
		}
	}
	return some
}

func kindsOf(m policy.Match) nameSet {
	kinds := make([]stubs.NameID, len(m.Kinds))
	for i, k := range m.Kinds {
		kinds[i] = stubs.Intern(k)
	}
	return nameSetOf(kinds)
}

// learnEvent adds the fact that a policy of one custom event sees no other, and reports whether the
// program reads the event's name.
func (a *analysis) learnEvent(name string) (some bool) {
	for _, r := range a.p.Reads {
		if name != "" && r.Stub == stubs.EventName {
			a.learnName(r, policy.Match{Tasks: []string{name}}, func(r ir.Read, v value) {
				a.facts.learn(a.facts.read(r), v)
				some = true
			})
		}
	}
	return some
}

// hint says why a condition that n reads is constant in a narrowed analysis.
func (a *analysis) hint(n *ir.Node) (why string) {
	if !a.lenient {
		return ""
	}
	if _, why := a.relation(n); why != "" {
		return why
	}
	n.Any(func(n *ir.Node) bool {
		r := ir.Read{}
		switch {
		case n.Op == ir.OpRead:
			r = a.reads[n.Index]
		case n.Source.List:
			r = a.reads[n.Source.Offset]
		default:
			return false
		}
		b, bounded := onAll(a.p, r.Stub)
		switch {
		case bounded:
			why = fmt.Sprintf("%s on %v", b.Why, a.p.On)
		case a.match == nil:
		case r.Stub == stubs.EventName:
			why = "the policy is evaluated on that event alone"
		case r.Stub == stubs.LoopName || matchedOn(a.p.On, r.Stub) != stubs.Draw:
			why = "match lets no other tasks through"
		}
		return why != ""
	})
	return why
}

// matchedOn returns TaskName or TaskKind if the stub is the name or the kind of the task to which a
// Match applies: the arriving task on enqueue, and otherwise the task of task.*. For other stubs it
// returns Draw.
func matchedOn(on stubs.Event, stub stubs.ID) stubs.ID {
	switch {
	case on == stubs.Enqueue && stub == stubs.ArrivingName, on&stubs.Enqueue == 0 && stub == stubs.TaskName:
		return stubs.TaskName
	case on == stubs.Enqueue && stub == stubs.ArrivingKind, on&stubs.Enqueue == 0 && stub == stubs.TaskKind:
		return stubs.TaskKind
	}
	return stubs.Draw
}

// learnName adds the facts of a match about a name, or about a pattern of it. If Tasks has
// patterns, only some names are known that match, but of every name in the program it is known
// whether it does.
func (a *analysis) learnName(r ir.Read, m policy.Match, learn func(ir.Read, value)) {
	names, all := m.Tasks, len(m.Tasks) > 0 && !slices.ContainsFunc(m.Tasks, isPattern)
	selects := m.Selector()
	if selects != nil {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !selects.Selects(name) })
	}
	switch {
	case r.Type == stubs.Name && all:
		ids := make([]stubs.NameID, len(names))
		for i, name := range names {
			ids[i] = stubs.Intern(name)
			a.matched[ids[i]] = name
		}
		learn(r, nameValue(nameSetOf(ids)))
	case r.Type == stubs.Name:
		var others []stubs.NameID
		for id, name := range a.p.Names {
			if !selects.Selects(name) {
				others = append(others, id)
			}
		}
		learn(r, nameValue(nameSetOf(others).complement()))
	case r.Pattern != "":
		learn(r, boolValue(matches(r.Pattern, policy.Match{Tasks: names, Except: m.Except})))
	}
}

// matches returns whether a task that the match lets through can match the pattern, and whether one
// can fail to.
func matches(pattern string, m policy.Match) (t truth) {
	p, _ := lang.ParsePattern(pattern)
	if t.yes, t.no = len(m.Tasks) == 0, len(m.Tasks) == 0; !t.yes {
		for _, name := range m.Tasks {
			task, _ := lang.ParsePattern(name)
			t.yes, t.no = t.yes || p.Overlaps(task), t.no || !p.Covers(task)
		}
	}
	for _, name := range m.Except {
		except, _ := lang.ParsePattern(name)
		within := func(name string) bool {
			task, _ := lang.ParsePattern(name)
			return p.Overlaps(task) && task.Precision() > except.Precision()
		}
		if except.Covers(p) && !slices.ContainsFunc(m.Tasks, within) {
			t.yes = false
		}
	}
	return t
}

func nameSetOf(ids []stubs.NameID) nameSet {
	slices.Sort(ids)
	return nameSet{ids: slices.Compact(ids)}
}

func isPattern(text string) bool {
	p, _ := lang.ParsePattern(text)
	_, whole := p.Name()
	return !whole
}
