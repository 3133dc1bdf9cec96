package cocoon

import (
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/notify"
)

// A task reports its own stall when it comes back. The stack is then the stack of the safe point at
// which it came back, and only its own goroutine is involved. If a task does not come back for a
// while, its stack is searched for in a profile of all goroutines, see takeStacks.

// comesBack is how long a report waits at most for the task to come back. It is a variable, because
// tests change it.
var comesBack = time.Second

// patienceOf returns how long a report waits for the task to come back, in a process with so many
// goroutines. Where a look takes little time, it comes soon: few stalls last for a second, and a
// task that comes back at its end has no stack to show.
func patienceOf(goroutines int) time.Duration {
	return min(comesBack, comesSoon+time.Duration(goroutines)*perGoroutine)
}

const (
	comesSoon    = 100 * time.Millisecond
	perGoroutine = 10 * time.Microsecond // as long as a look takes, or longer

	// lookShare is the inverse of the share of one core that may be used to look for the stacks of
	// tasks that do not come back. With 100,000 goroutines a look takes 0.3 to 1 s, so it happens
	// each minute or so; with a thousand it happens at each report.
	lookShare = 100

	// mayBeIts is the maximum number of stacks in a report if several may be the task's.
	mayBeIts = 4
)

// stallInstead is the advice on how to avoid a stall.
const stallInstead = "SafePoint in its loop, or cocoon build; Block around what waits"

// reportStall logs the stall of a task after its slot was lent, unless another stall was logged
// within the last second; such stalls are only counted. silent is how long the task has passed no
// safe point. reportStall itself only requests that the task record where it comes back, and asks
// the Logger, on another goroutine. Called under the loop's lock.
func (l *Loop) reportStall(s *strand, silent, now int64) {
	if !l.stats.reports.due(now) {
		return
	}
	st := &stallReport{s: s, task: s.task.Path(), since: now - silent, back: make(chan struct{})}
	s.stall = st
	l.rt.log.expect(slog.LevelWarn, st.report)
}

// comeBack records where a task without its lent slot asks for a slot again, or ends. Called under
// the loop's lock, by the task's goroutine. It costs about 3 µs if the stall will be reported.
func (s *strand) comeBack() {
	st := s.stall
	if st == nil {
		return
	}
	s.stall = nil
	pcs := make([]uintptr, 128)
	st.at, st.pcs = notify.Now(), pcs[:runtime.Callers(3, pcs)]
	close(st.back)
}

// report waits for the task, and logs the stall, at the latest when the runtime ends.
func (st *stallReport) report() {
	rt := st.s.loop.rt
	patience := time.NewTimer(patienceOf(runtime.NumGoroutine()))
	defer patience.Stop()
	select {
	case <-st.back:
	case <-rt.ctx.Done():
	case <-patience.C:
	}
	select {
	case <-st.back:
		st.logBack()
	default:
		st.logAway(notify.Now())
	}
}

// logBack logs a stall after its end.
func (st *stallReport) logBack() {
	stack := ownStack(st.pcs)
	back := "at its end"
	if len(stack) > 0 {
		back = lineOf(placeOf(stack))
	}
	st.log("cocoon: task held a slot without passing a safe point; its slot was lent to others",
		st.at, "back", back, "stack", traceOf(stack))
}

// logAway logs a stall that has not ended.
func (st *stallReport) logAway(now int64) {
	where := st.where(now)
	select {
	case <-st.back: // the task has come back
		st.logBack()
	default:
		st.log("cocoon: task holds a slot without passing a safe point; its slot is lent to others", notify.Now(), where...)
	}
}

// where returns the task's stack, for a line of the log, if it may be looked for now.
func (st *stallReport) where(now int64) []any {
	rt := st.s.loop.rt
	switch until := rt.looked.Load(); {
	case rt.ctx.Err() != nil:
		return []any{"stack", "", "note", "the runtime has ended"}
	// another goroutine is looking
	case now < until || !rt.looked.CompareAndSwap(until, notify.Never):
		return []any{"stack", "", "note", "stacks were taken for another report, and are again later"}
	}
	return st.findStack()
}

// findStack returns the task's stack, for a line of the log.
func (st *stallReport) findStack() []any {
	rt := st.s.loop.rt
	all, began := rt.takeStacks()
	end := notify.Now()
	rt.looked.Store(end + (lookShare-1)*(end-began))
	found := stacksOf(all, st.s)
	switch {
	case len(found) == 0:
		return []any{"stack", "", "note", "no goroutine is the task's: it has just come back, or calls C"}
	case len(found) == 1 && len(found[0].tasks) > 0:
		return []any{"stack", traceOf(found[0].frames)}
	}
	var texts []string
	for _, t := range found[:min(len(found), mayBeIts)] {
		texts = append(texts, traceOf(t.frames))
	}
	return []any{"stack", strings.Join(texts, "\n"), "note",
		fmt.Sprintf("the task's may be each of %d stacks, of which here are %d", len(found), len(texts))}
}

func (st *stallReport) log(text string, until int64, where ...any) {
	l := st.s.loop
	args := []any{"task", st.task, "loop", l.cfg.Name, "silent", time.Duration(until - st.since), "stalls", l.stats.stalls.Load()}
	l.rt.log.add(slog.LevelWarn, text, append(append(args, where...), "instead", stallInstead)...)
}
