package cocoon

import (
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/notify"
)

// loopsAfter is how long policies may name loops that do not exist before the log says so. A
// program may register its policies first, and make its loops afterwards.
const loopsAfter = 5 * time.Second

// listenForLoops schedules a look at the loops that policies name, if one does not exist that the
// versions name. Called with regMu held.
func (rt *Runtime) listenForLoops(now int64, versions []*version) {
	at := now + int64(loopsAfter)
	if slices.ContainsFunc(versions, func(v *version) bool { return len(v.unmetLoops()) > 0 }) && rt.loopsAt.CompareAndSwap(0, at) {
		rt.timer.WakeAt(at)
	}
}

// listened logs the unmet names and loops if they are due, and returns when they are.
func (rt *Runtime) listened(now int64) (next int64) {
	return min(dueAt(&rt.unmetAt, now, rt.tellUnmet), dueAt(&rt.loopsAt, now, rt.tellLoops))
}

// dueAt starts tell if it is due, and returns when it is.
func dueAt(when *atomic.Int64, now int64, tell func()) (next int64) {
	at := when.Load()
	switch {
	case at == 0:
		return notify.Never
	case now < at:
		return at
	}
	when.Store(0)
	go tell()
	return notify.Never
}

// tellUnmet logs the unmet names, each once as long as it is unmet.
func (rt *Runtime) tellUnmet() {
	rt.lookForKept()
	policies, flows := rt.flows()
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	u := rt.unmetNames()
	names := slices.Sorted(maps.Keys(u.names))
	news := rt.untold(names)
	rt.tellIdleStates(policies, flows)
	if rt.told = names; len(news) == 0 {
		return
	}
	rt.log.add(slog.LevelWarn, "cocoon: policies or documents refer to names that have matched nothing so far; they may be misspelt, or name functions in a document that cocoon build has not seen (-cocoon.policies)", "names", news, "where", u.places(news))
	of := func(names map[string]bool) []string {
		return slices.DeleteFunc(slices.Clone(news), func(name string) bool { return !names[name] })
	}
	if sections := of(u.sections); len(sections) > 0 {
		rt.log.add(slog.LevelWarn, "cocoon: policies or documents name sections where names of tasks are meant, as in match.tasks, tasks and task.name; compare task.section or task.sections, or write a limit", "sections", sections)
	}
	if tasks := of(u.tasks); len(tasks) > 0 {
		rt.log.add(slog.LevelWarn, "cocoon: policies name tasks where names of sections are meant, as in task.section, task.sections and task.stack; compare task.name", "tasks", tasks)
	}
}

// untold returns the names that no line has had. Called with regMu held.
func (rt *Runtime) untold(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(rt.told, name) })
}

// tellLoops logs the loops that policies name and that do not exist, each once as long as this
// holds.
func (rt *Runtime) tellLoops() {
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	news := rt.untold(rt.unmetLoops())
	if len(news) == 0 || rt.closing {
		return
	}
	rt.told = append(rt.told, news...)
	var there []string
	for _, l := range *rt.loops.Load() {
		there = append(there, l.cfg.Name)
	}
	rt.log.add(slog.LevelWarn, "cocoon: policies name loops that do not exist; the names may be misspelt, or NewLoop may make the loops later", "names", news, "loops", there)
}
