package cocoon

import (
	"math/rand/v2"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/kernel"
	"github.com/cocoon-go/cocoon/notify"
)

const (
	// surveysOfLead is how many surveys there are in the running time that the policies leave a
	// task, if that is long enough. The sum of so many random samples is mostly exact to an eighth.
	surveysOfLead = 64

	// perSurvey is how many tasks without a slot a survey looks at.
	perSurvey = 256

	// surveysUnasked is how many intervals a series goes on for after a task last needed it.
	surveysUnasked = 32

	// manyReady is how many tasks must be found ready before that means something.
	manyReady = 16
)

// unproved returns how much of the time span since the last sample of s, which was just found
// waiting, does not count as running: half of it at first, and then what exceeds the surveys.
// Called under the loop's lock.
func (s *strand) unproved(span, lead, now int64) (off int64) {
	v := &s.loop.survey
	if v.ask(min(max(minLook, lead/surveysOfLead), sampleRunning), now) {
		s.loop.rt.timer.WakeAt(v.at)
	}
	m := s.remembers()
	if v.covers(&m.surveyed, s.core.Arrived()) {
		return s.overcounted(span, now)
	}
	off = min(span, samplesOf(lead)) / 2
	m.surveyed = surveyed{v.began, s.core.Arrived(), s.core.Ran(now) - off}
	return off
}

// makeSurvey makes a survey if one is due, and returns when the next one is. Called by the timer,
// under the loop's lock.
func (l *Loop) makeSurvey(now int64) (next int64) {
	v := &l.survey
	switch {
	case v.at == 0:
		return notify.Never
	case now < v.at:
		return v.at
	case now-v.asked > surveysUnasked*v.every:
		v.at = 0
		return notify.Never
	}
	part, used := min(now-v.last, 2*v.every), kernel.ProcessCPU()
	if kernel.ExactCPU {
		part = min(part, used-v.used) // less if the process stood still
	}
	v.crowded = l.rt.cpu.crowded()
	l.running(func(s *strand) bool {
		v.finds(s, part)
		return true
	})
	l.surveyParked(part, now)
	v.last, v.used = now, used
	v.schedule()
	v.keepApart(l.rt, now)
	return v.at
}

// surveyParked surveys the tasks without a slot; of very many, a random part that stands for all.
func (l *Loop) surveyParked(part, now int64) {
	all := l.absent.parked
	n := min(len(all), perSurvey)
	if n == 0 {
		return
	}
	first := rand.IntN(len(all))
	for i := range n {
		s, part := all[(first+i)%len(all)], part*int64(len(all))/int64(n)
		if l.survey.finds(s, part) {
			s.addFound(part, now)
		}
	}
}

// finds records what a survey finds of s. The survey stands for a time of length part. A task in a
// system call does not count as running: it may wait there.
func (v *survey) finds(s *strand, part int64) (running bool) {
	of := s.stacks.Load().surveys()
	if !v.covers(of, s.core.Arrived()) {
		return false
	}
	switch s.status() {
	case goroutine.Ready:
		v.ready++
		return false
	case goroutine.Running:
	case goroutine.Runnable: // perhaps the timer has its P
		if v.crowded {
			return false
		}
	default:
		return false
	}
	v.running++
	of.ran += part
	return true
}

// keepApart makes the runtime hot if surveys depend on the tasks and a lead is short. While the
// runtime is cold, Go wakes the timer and the tasks that sleep at the same moments, so surveys find
// tasks ready, and rarely running. A task that slept between pieces of 20 µs was charged for a
// tenth of them. Heat costs up to 1.7 times the processor time of tasks that sleep most of the
// time. With a longer lead it is not paid, and these tasks run longer.
func (v *survey) keepApart(rt *Runtime, now int64) {
	short := v.every <= max(minLook, shortLead/surveysOfLead)
	if short && v.ready > max(2*v.running, manyReady) && !v.crowded {
		rt.warmth.fine.Store(now)
		rt.needHeat(now)
	}
	if v.ready+v.running > 4*manyReady {
		v.ready, v.running = v.ready/2, v.running/2
	}
}
