package cocoon

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/notify"
)

// gapProbe asks a task when its next safe point will be. Guarded by the loop's lock.
//
// After a task has responded, it is asked again some time later, and the request stays posted until
// the task responds. So only gaps longer than the interval are sure to be found, which are the gaps
// that matter, and the polls in between cost no more than without Config.Gaps. If all polls took
// the slow path and recorded the time, every gap would be found, but the program would be so much
// slower that its gaps would not be representative.
type gapProbe struct {
	asked    int64 // 0: it has responded
	due      int64 // when it is asked again
	sampled  int64 // how long it had been silent when its stack was last taken; 0: not taken yet
	sampling bool  // its stack is being taken
	stack    []runtime.Frame
	same     int  // how many functions, from the outermost, all samples share
	deep     bool // the stack is too deep: its outermost functions are missing
}

// endedGap is a gap to be recorded.
type endedGap struct {
	gapProbe
	at   int64 // when it ended
	task string
	end  []runtime.Frame // the poll's stack; empty at the task's end, or where it waits
}

// probe asks the task for a safe point at the probe's time. While the task does not respond, probe
// has its stack taken, at once and whenever the silence has doubled. Called under the loop's lock.
func (s *strand) probe(now int64) (next int64) {
	g := s.loop.rt.gaps
	if g == nil {
		return notify.Never
	}
	p := s.gap
	switch silent := now - p.asked; {
	case p.asked == 0 && now >= p.due:
		*p = gapProbe{asked: now}
		s.post(wantGap, now)
	case p.asked != 0 && silent >= max(g.every, 2*p.sampled) && now >= g.quiet.Load() && g.sampling.CompareAndSwap(false, true):
		p.sampled, p.sampling = silent, true
		go g.sample(s, p.asked)
	}
	return now + g.every
}

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

// sample takes the stack of a task that was asked and has not responded. With many goroutines this
// takes a while, so it may use at most a tenth of the time, unless that requires pauses longer than
// maxQuiet. The stacks show a moment near the beginning of the call; the task may have ended its
// gap when the call returns.
func (g *gapRecord) sample(s *strand, asked int64) {
	defer g.sampling.Store(false)
	all, begin := s.loop.rt.takeStacks()
	end := notify.Now()
	var stack taskStack
	if found := stacksOf(all, s); len(found) == 1 {
		stack = found[0]
	}
	g.quiet.Store(end + min(9*(end-begin), maxQuiet))
	stopped := min(end, begin+stopTime+stopTimeGoroutine*int64(runtime.NumGoroutine()))
	l := s.loop
	l.lock()
	defer l.unlock()
	switch late := s.lateGap; {
	case s.gap.asked == asked:
		s.gap.sampling = false
		s.gap.saw(stack)
	case late != nil && late.asked == asked:
		if late.at >= stopped {
			late.saw(stack)
		}
		g.record(*late)
		s.lateGap = nil
	}
}

// saw records a stack that was taken during the gap, unless the task was already at the poll,
// because it could not be stopped earlier.
func (p *gapProbe) saw(t taskStack) {
	stack := t.frames
	if len(stack) == 0 || slices.ContainsFunc(stack, func(f runtime.Frame) bool { return ours(f.Function) }) {
		return
	}
	if len(p.stack) > 0 {
		p.same = shared(stack, p.stack[len(p.stack)-p.same:])
	} else {
		p.same = len(stack)
	}
	p.stack, p.deep = stack, len(t.tasks) == 0
}

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
	*s.gap = gapProbe{due: now + g.every}
	s.requests.Store(s.requests.Load() &^ wantGap)
	if now-p.asked < g.every {
		return
	}
	ended := endedGap{gapProbe: p, at: now, task: s.task.Path()}
	if s.g.Load() == goroutine.ID() {
		ended.end = pollStack()
	}
	if p.sampling {
		s.lateGap = &ended // sample will record it
		return
	}
	g.record(ended)
}

func (g *gapRecord) record(e endedGap) {
	gap := Gap{Longest: time.Duration(e.at - e.asked), Count: 1, Task: e.task, Stack: textOf(e.stack)}
	if len(e.end) > 0 {
		gap.End = lineOf(e.end[0])
	}
	if len(e.stack) > 0 {
		at := e.place(e.end)
		gap.Function, gap.File, gap.Line = at.Function, at.File, at.Line
	}
	g.add(gap)
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
		if !strings.HasPrefix(f.Function, "runtime.") && !strings.HasPrefix(f.Function, "internal/") {
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
