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

// gapProbe is a question to a task when its next safe point will be. Guarded by the loop's lock.
//
// A task is asked again some time after it has answered, and the word stays up until it does; so
// only gaps that are longer than the interval are surely found, which are the ones that matter, and
// the polls in between cost what they always cost. To let all polls take the slow path, and note
// the time, would find each gap, and slow the program down by so much that its gaps were not those
// that one wants to know.
type gapProbe struct {
	asked    int64 // 0: it has answered
	due      int64 // when it is asked again
	sampled  int64 // how long it had been silent when its stack was taken last; 0: not yet
	sampling bool  // its stack is being taken
	stack    []runtime.Frame
	same     int  // how many functions of the stack, from the outermost, were there each time
	deep     bool // the stack is too deep: its outermost functions are missing
}

// endedGap is a gap to be recorded.
type endedGap struct {
	gapProbe
	at   int64 // when it ended
	task string
	end  []runtime.Frame // the poll's stack; none at the task's end, or where it waits
}

// probe asks the task for a safe point if it is time, and has its stack taken while it does not
// answer: at once, and each time that the silence has doubled. Called under the loop's lock.
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

// armGaps sees to it that the timer comes for a task that begins to run.
func (rt *Runtime) armGaps() {
	if rt.gaps != nil {
		rt.timer.WakeAt(notify.Now() + rt.gaps.every)
	}
}

const (
	// maxQuiet is after what time stacks may be taken again, however long the last ones took: to
	// wait for a processor, often.
	maxQuiet = int64(500 * time.Millisecond)

	// stopTime is what passes between the call that takes the stacks and the moment of which they
	// are, beside what the call allocates for each goroutine. Later than that the task had not
	// ended a gap that its stack is of.
	stopTime          = int64(time.Millisecond)
	stopTimeGoroutine = 20
)

// sample takes the stack of a task that was asked and has not answered. That takes a while if there
// are many goroutines, so it is not done for more than a tenth of the time, but where that is
// longer than maxQuiet. The stacks are those of a moment near the beginning; the task may have
// ended its gap when this goes on.
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

// saw notes a stack that was taken in the midst of the gap, unless the task was at the poll
// already: where it could not be stopped before.
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

// endGap notes that the task is at a safe point, or at its end, or that it waits unannounced.
// Called under the loop's lock, by the task's goroutine but where it waits.
func (s *strand) endGap(now int64) {
	if s.gap != nil && s.gap.asked != 0 {
		s.gapEnded(now)
	}
}

// gapEnded has a frame of its own, for most tasks are not asked, and each has a stack.
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
		s.lateGap = &ended // for sample to record
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

// place returns the function that took the time: the one that had been called at the poll's own
// function, and has returned since; or, at the end of the task, what was on the stack each time
// that it was taken. Of a stack that is too deep to be compared it is the innermost.
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

// shared returns how many functions two stacks have in common, from the outermost.
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

// isCall reports whether the frame is that below which a task's caller is.
func isCall(f runtime.Frame) bool { return strings.HasSuffix(f.Function, "/cocoon.(*strand).call") }

// placeOf returns the innermost frame outside of Go's runtime, or the innermost if there is none.
func placeOf(stack []runtime.Frame) runtime.Frame {
	for _, f := range stack {
		if !strings.HasPrefix(f.Function, "runtime.") && !strings.HasPrefix(f.Function, "internal/") {
			return f
		}
	}
	return stack[0]
}

// pollStack returns the stack of the calling task from where it polled; nothing when it is at its
// end.
func pollStack() []runtime.Frame {
	pcs := make([]uintptr, 1024)
	return ownStack(pcs[:runtime.Callers(4, pcs)])
}
