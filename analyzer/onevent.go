package analyzer

import (
	"math"
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

// Bounds are the values that a stub can have on some events, where it has fewer than the catalogue
// says. A name or a list with Most 0 is empty.
type Bounds struct {
	Least, Most int64
	Why         string // "a task has not run yet"
}

// eventBounds are the bounds of stubs on events. Each event must have an entry of the stub; stubs
// and events without an entry have the values of the catalogue.
var eventBounds = []struct {
	of []stubs.ID
	on stubs.Event
	Bounds
}{
	{unrun, stubs.Start | stubs.Leave, Bounds{0, 0, "a task has not run yet"}},
	{sections, stubs.Start | stubs.Leave, Bounds{0, 0, "a task that has not run has no open section"}},
	{sections, stubs.Exit, Bounds{0, 0, "a task that ends has no open section"}},
	{[]stubs.ID{stubs.ClassTasks, stubs.TenantTasks}, stubs.AnyEvent, Bounds{1, math.MaxInt64, "the task itself counts"}},
	{[]stubs.ID{stubs.RuntimeTasks}, stubs.AnyEvent &^ (stubs.Tick | stubs.Custom), Bounds{1, math.MaxInt64, "the task itself counts"}},
	{[]stubs.ID{stubs.ClassBusy, stubs.TenantBusy, stubs.LoopBusy}, stubs.Start, Bounds{1, math.MaxInt64, "the task itself counts"}},
	{[]stubs.ID{stubs.ClassQueued, stubs.TenantQueued, stubs.QueueLength}, stubs.Leave, Bounds{1, math.MaxInt64, "the task itself counts"}},
}

// unrun are the stubs that stay 0 until a task has run.
var unrun = []stubs.ID{stubs.TaskRunning, stubs.TaskSlice, stubs.TaskBlocked, stubs.TaskPreemptions}

// sections are the stubs about the open sections of a task.
var sections = []stubs.ID{stubs.TaskSection, stubs.TaskSectionRunning, stubs.TaskSections, stubs.TaskStack}

// On returns the bounds of a stub on one event for a policy, or for any policy if p is nil; ok is
// false if they are the values of the catalogue.
func On(p *ir.Program, id stubs.ID, on stubs.Event) (b Bounds, ok bool) {
	if id == stubs.ArrivingRunning && on == stubs.Enqueue && p != nil && len(p.Reasons) > 0 {
		// a policy with a throw is not evaluated for a task that returns from a block
		return Bounds{0, 0, "a task that arrives has not run yet"}, true
	}
	for _, e := range eventBounds {
		if e.on&on != 0 && slices.Contains(e.of, id) {
			return e.Bounds, true
		}
	}
	return b, false
}

// Has reports whether v, a value as in stubs.Value, is within the bounds.
func (b Bounds) Has(v any) bool {
	switch v := v.(type) {
	case int64:
		return b.Least <= v && v <= b.Most
	case time.Duration:
		return b.Least <= int64(v) && int64(v) <= b.Most
	case string:
		return b.Most > 0 || v == ""
	case []string:
		return b.Most > 0 || len(v) == 0
	}
	return true
}

// onAll returns the bounds of a stub on all events of a policy.
func onAll(p *ir.Program, id stubs.ID) (all Bounds, ok bool) {
	for event := stubs.Tick; event <= stubs.Custom; event <<= 1 {
		if p.On&event == 0 {
			continue
		}
		b, has := On(p, id, event)
		if !has {
			return b, false
		}
		if ok {
			b.Least, b.Most = min(b.Least, all.Least), max(b.Most, all.Most)
			if b.Why != all.Why {
				b.Why = all.Why + ", and " + b.Why
			}
		}
		all, ok = b, true
	}
	return all, ok
}

// barely is how long a task may have run when its first slot is announced, for warnings.
const barely = int64(time.Millisecond)

// learnEvents adds the facts about the values of stubs on the policy's events, and reports whether
// the program reads any of them.
func (a *analysis) learnEvents() (some bool) {
	for _, r := range a.p.Reads {
		b, ok := onAll(a.p, r.Stub)
		if !ok {
			continue
		}
		some = true
		switch t := a.facts.read(r); {
		case r.Type == stubs.NameList:
			a.noSections = true
		case r.Pattern != "" && r.Type == stubs.Bool:
			pattern, _ := lang.ParsePattern(r.Pattern)
			a.facts.learn(t, known(pattern.Matches("")))
		case r.Taken != ir.TakenWhole:
			a.facts.learn(t, constant(r.Type, r.Take("")))
		case r.Type == stubs.Name:
			a.facts.learn(t, nameValue(exactName(0)))
		case r.Type == stubs.Duration && b.Most == 0:
			a.facts.learn(t, intValue(r.Type, interval{lo: 0, hi: barely}))
		default:
			a.facts.learn(t, intValue(r.Type, interval{lo: b.Least, hi: b.Most}))
		}
	}
	return some
}
