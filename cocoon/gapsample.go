package cocoon

import (
	"runtime"
	"slices"

	"github.com/cocoon-go/cocoon/notify"
)

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
		*p = gapProbe{asked: now, late: p.late}
		s.post(wantGap, now)
	case p.asked != 0 && silent >= max(g.every, 2*p.sampled) && now >= g.quiet.Load() && g.sampling.CompareAndSwap(false, true):
		p.sampled, p.sampling = silent, true
		go g.sample(s, p.asked)
	}
	return now + g.every
}

// sample takes the stack of a task that was asked and has not responded. With many goroutines this
// takes a while, so it may use at most a tenth of the time, unless that requires pauses longer than
// maxQuiet. The stacks show a moment near the beginning of the call; the task may have ended its
// gap when the call returns.
func (g *gapWatch) sample(s *strand, asked int64) {
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
	switch late := s.gap.late; {
	case s.gap.asked == asked:
		s.gap.sampling = false
		s.gap.saw(stack)
	case late != nil && late.asked == asked:
		if late.at >= stopped {
			late.saw(stack)
		}
		g.ended(*late)
		s.gap.late = nil
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
