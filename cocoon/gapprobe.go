package cocoon

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/notify"
)

// gapProbe is a question to a task when its next safe point will be. Guarded by the loop's lock.
//
// A task is asked again some time after it has answered, and the word stays up until it does; so only gaps that are longer
// than the interval are surely found, which are the ones that matter, and the polls in between cost what they always cost.
// To let all polls take the slow path, and note the time, would find each gap, and slow the program down by so much that its
// gaps were not those that one wants to know.
type gapProbe struct {
	asked    int64 // 0: it has answered
	due      int64 // when it is asked again
	sampled  int64 // how long it had been silent when its stack was taken last; 0: not yet
	sampling bool  // its stack is being taken
	stack    []runtime.Frame
	same     int // how many functions of the stack, from the outermost, were there each time
}

// endedGap is a gap to be recorded.
type endedGap struct {
	gapProbe
	at   int64 // when it ended
	task string
	end  []runtime.Frame // the poll's stack; none at the task's end
}

// probe asks the task for a safe point if it is time, and has its stack taken while it does not answer: at once, and each
// time that the silence has doubled. Called under the loop's lock.
func (s *strand) probe(now int64) (next int64) {
	g := s.loop.rt.gaps
	if g == nil {
		return notify.Never
	}
	p := &s.gap
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
	// maxQuiet is after what time a stack may be taken again, however long the last one took: to wait for a processor, often.
	maxQuiet = int64(20 * time.Millisecond)

	// restart is what passes at most between the world's being started again, when the stack is there, and now. What has
	// ended in that time was on the stack.
	restart = int64(10 * time.Microsecond)
)

// sample takes the stack of a task that was asked and has not answered. That stops the world, for long if there are many
// goroutines; so it is not done for more than a tenth of the time, but where that is longer than maxQuiet. Memory that is
// being copied or cleared delays the stop until it is done, so the task may have ended its gap when this goes on.
func (g *gapRecord) sample(s *strand, asked int64) {
	defer g.sampling.Store(false)
	begin := notify.Now()
	text := s.stack()
	end := notify.Now()
	stack := framesOf(text)
	g.quiet.Store(end + min(9*(end-begin), maxQuiet))
	l := s.loop
	l.lock()
	defer l.unlock()
	switch late := s.lateGap; {
	case s.gap.asked == asked:
		s.gap.sampling = false
		s.gap.saw(stack)
	case late != nil && late.asked == asked:
		if late.at >= end-restart {
			late.saw(stack)
		}
		g.record(*late)
		s.lateGap = nil
	}
}

// saw notes a stack that was taken in the midst of the gap, unless the task was at the poll already: where the world cannot
// be stopped before.
func (p *gapProbe) saw(stack []runtime.Frame) {
	if len(stack) == 0 || slices.ContainsFunc(stack, func(f runtime.Frame) bool { return ours(f.Function) }) {
		return
	}
	if len(p.stack) > 0 {
		p.same = shared(stack, p.stack[len(p.stack)-p.same:])
	} else {
		p.same = len(stack)
	}
	p.stack = stack
}

// endGap notes that the task is at a safe point, or at its end. Called under the loop's lock, by the task's goroutine.
func (s *strand) endGap(now int64) {
	p, g := s.gap, s.loop.rt.gaps
	if p.asked == 0 {
		return
	}
	s.gap = gapProbe{due: now + g.every}
	s.requests.Store(s.requests.Load() &^ wantGap)
	if now-p.asked < g.every {
		return
	}
	ended := endedGap{p, now, s.task.Path(), pollStack()}
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

// place returns the function that took the time: the one that had been called at the poll's own function, and has returned
// since; or, at the end of the task, what was on the stack each time that it was taken.
func (p gapProbe) place(end []runtime.Frame) runtime.Frame {
	n := p.same
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

// isCall reports whether the frame is the lowest of a task's own.
func isCall(f runtime.Frame) bool { return strings.HasSuffix(f.Function, "/cocoon.(*strand).call") }

// framesOf reads a stack as the runtime prints it, down to where the task begins: a function with its arguments in one line,
// its place in the next.
func framesOf(text string) (stack []runtime.Frame) {
	lines := strings.Split(text, "\n")
	for i := 1; i+1 < len(lines); i += 2 {
		name, _, _ := cutLast(lines[i], "(")
		place, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " +0x")
		file, number, ok := cutLast(place, ":")
		line, err := strconv.Atoi(number)
		if !ok || err != nil {
			i-- // "...additional frames elided..."
			continue
		}
		f := runtime.Frame{Function: name, File: file, Line: line}
		if isCall(f) {
			return stack
		}
		stack = append(stack, f)
	}
	return stack
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
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

// pollStack returns the stack of the calling task from where it polled; nothing when it is at its end.
func pollStack() (stack []runtime.Frame) {
	pcs := make([]uintptr, 1024)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for more := true; more; {
		var f runtime.Frame
		if f, more = frames.Next(); isCall(f) {
			break
		}
		if len(stack) > 0 || !ours(f.Function) {
			stack = append(stack, f)
		}
	}
	return stack
}
