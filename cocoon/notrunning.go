package cocoon

import (
	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/sched"
)

// starve subtracts a time in which a task with a slot had no processor from its running time.
// Called under the loop's lock.
func (s *strand) starve(off, now int64) {
	if st := s.core.State(); st == sched.Running || st == sched.Lent {
		s.core.Discount(off, false, now)
		s.runBase.Store(now - s.core.Ran(now))
	}
}

// notRunning returns how long the task has not run, judged by the state of its goroutine, and
// whether it was blocked since then. span is the time since the last sample, vouched the time for
// which one look counts, and late the least time for which a waiting goroutine has waited. A task
// that has lost its P since the last look counts as running, because the timer's own goroutine may
// have the P. If goroutines wait for Ps, the task's share of the processor time bounds its running
// time.
func (s *strand) notRunning(span, vouched, late int64) (off int64, blocked bool) {
	was, status := s.inCall, s.status()
	s.inCall = false
	k := s.checked()
	k.lostP = status == goroutine.Runnable
	stays := s.stays(k.lostP || status == goroutine.Waiting || status == goroutine.Ready)
	if stays {
		vouched = span
	}
	switch status {
	case goroutine.Waiting:
		return max(vouched, late), true
	case goroutine.Syscall:
		if s.inCall = true; was {
			return vouched, true
		}
	case goroutine.Ready:
		return vouched, false
	case goroutine.Runnable:
		if stays {
			return span, false
		}
	}
	return 0, false
}

// stays reports whether the task's goroutine has not run since the last sample, which found it in
// the same wait, for a message or for a P. Without that, a task that waits for long, and is rarely
// looked at, would be charged for most of its wait if other tasks keep the cores busy. waits says
// whether the goroutine waits now. The record of a goroutine that waits for a coroutine (iter.Pull)
// says nothing about the coroutine.
func (s *strand) stays(waits bool) (stays bool) {
	k, g := s.checked(), s.g.Load()
	leaves, known := goroutine.LeavesOf(g)
	k.kept = known && k.looked && leaves == k.leaves
	k.looked = true
	waits = waits && known && pulledBy(g) == nil
	stays = waits && k.waited && leaves == k.leaves
	k.newWait = waits && !stays
	k.waited, k.leaves = waits, leaves
	return stays
}

// keepsP reports whether the task's goroutine has not stopped running since the last sample, as far
// as is known.
func (s *strand) keepsP() bool {
	leaves, known := goroutine.LeavesOf(s.g.Load())
	return known && s.checks != nil && s.checks.looked && leaves == s.checks.leaves
}

// served returns for how much of the time since its last sample the task can have had a processor,
// judged by the processor time of the process. It is negative if the task cannot have had one for
// all of the time that it was thought to run before, at samples without a reading.
func (s *strand) served(now int64, cpu *cpuSample) int64 {
	span, k := now-s.sampled, s.checked()
	if k.cpuAt != 0 {
		ran, used := s.core.Ran(now)-k.ranAt, cpu.used-k.cpuAt
		if used < ran-span {
			return span - ran + used
		}
		return max(0, span-ran+cpu.share(ran, used))
	}
	used, read := cpu.usedSince(s.sampled, now)
	if !read {
		return min(span, used)
	}
	return cpu.share(span, used)
}

// overcounted returns how much of the time span since the last sample of s exceeds what the surveys
// say, or 0 if they do not cover the task. Called under the loop's lock.
func (s *strand) overcounted(span, now int64) (off int64) {
	if of := s.stacks.Load().surveys(); s.loop.survey.covers(of, s.core.Arrived()) {
		off = min(span, max(0, s.core.Ran(now)-of.ran))
	}
	return off
}

// addFound adds the time d to the running time of a task that a survey has found running without a
// slot: nothing else counts it. Called under the loop's lock.
func (s *strand) addFound(d, now int64) {
	if s.core.Count(d, now) > 0 {
		s.runBase.Store(now - s.core.Ran(now))
	}
}
