package cocoon

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/notify"
)

// armGaps wakes the timer for a task that begins to run.
func (rt *Runtime) armGaps() {
	if rt.gaps != nil {
		rt.timer.WakeAt(notify.Now() + rt.gaps.every)
	}
}

const (
	// maxQuiet is the longest pause before stacks may be taken again, however long the last time
	// took: that time is often a wait for a processor.
	maxQuiet = int64(500 * time.Millisecond)

	// stopTime is the time from the call that takes the stacks to the moment at which they are
	// taken, in addition to what the call allocates for each goroutine. A gap that ended later than
	// that contains the stack.
	stopTime          = int64(time.Millisecond)
	stopTimeGoroutine = 20
)

// endGap records that the task is at a safe point, or at its end, or in an unannounced wait. Called
// under the loop's lock, by the task's goroutine unless the task waits.
func (s *strand) endGap(now int64) {
	if s.gap != nil && s.gap.asked != 0 {
		s.gapEnded(now)
	}
}

// gapEnded has a frame of its own, because every task has a stack and most tasks are never asked.
//
//go:noinline
func (s *strand) gapEnded(now int64) {
	p, g := *s.gap, s.loop.rt.gaps
	*s.gap = gapProbe{due: now + g.every, late: p.late}
	p.late = nil
	s.requests.Store(s.requests.Load() &^ wantGap)
	if now-p.asked < g.every {
		return
	}
	ended := endedGap{gapProbe: p, at: now, task: s.task.Path()}
	if s.g.Load() == goroutine.ID() {
		ended.end = pollStack()
	}
	if p.sampling {
		s.gap.late = &ended // sample will record it
		return
	}
	g.ended(ended)
}

func (g *gapWatch) ended(e endedGap) {
	gap := Gap{Longest: time.Duration(e.at - e.asked), Count: 1, Task: e.task, Stack: textOf(e.stack)}
	if len(e.end) > 0 {
		gap.End = lineOf(e.end[0])
	}
	if len(e.stack) > 0 {
		at := e.place(e.end)
		gap.Function, gap.File, gap.Line = at.Function, at.File, at.Line
	}
	g.record.Add(gap)
}

// place returns the function that took the time: the one called directly by the function that
// polled, and returned since. At the end of the task, it returns the innermost function that was on
// the stack in all samples. If the stack is too deep to compare, it returns its innermost function.
func (p gapProbe) place(end []runtime.Frame) runtime.Frame {
	n := p.same
	if p.deep {
		return placeOf(p.stack)
	}
	if len(end) > 0 {
		n = min(n, shared(p.stack, end)+1)
	}
	return placeOf(p.stack[len(p.stack)-max(n, 1):])
}

// shared returns how many functions two stacks have in common, counted from the outermost.
func shared(a, b []runtime.Frame) (n int) {
	for n < min(len(a), len(b)) && a[len(a)-1-n].Function == b[len(b)-1-n].Function {
		n++
	}
	return n
}

func lineOf(f runtime.Frame) string { return fmt.Sprintf("%s %s:%d", f.Function, f.File, f.Line) }

func textOf(stack []runtime.Frame) string {
	lines := make([]string, len(stack))
	for i, f := range stack {
		lines[i] = lineOf(f)
	}
	return strings.Join(lines, "\n")
}

// placeOf returns the innermost frame outside of Go's runtime, or the innermost if there is none.
func placeOf(stack []runtime.Frame) runtime.Frame {
	for _, f := range stack {
		if !ofGo(f.Function) {
			return f
		}
	}
	return stack[0]
}

// pollStack returns the stack of the calling task from its poll, or nothing if the task is at its
// end.
func pollStack() []runtime.Frame {
	pcs := make([]uintptr, 1024)
	return ownStack(pcs[:runtime.Callers(4, pcs)])
}
