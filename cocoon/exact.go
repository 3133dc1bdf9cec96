package cocoon

import (
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/kernel"
	"github.com/cocoon-go/cocoon/notify"
)

// A handler that reads a body piece by piece runs for microseconds at a time, and waits in between.
// Samples rarely find it: each grant of a slot begins a new account. But on a busy machine each
// piece may cost milliseconds that are not running time: the goroutine has its slot before it has a
// processor, and the kernel gives the processor to other threads. A limit of 5 ms then cut uploads
// that ran for 1.4 ms. Two exact measurements find these times: startsLate, for all tasks, and
// stretches. They begin
//
//   - at a safe point of a task that computes and has used a part of a limit;
//   - after a Block of such a task, if the limit is exactLead at most, or such tasks often wait
//     unannounced;
//   - if the limit is shortLead at most and threads lack cores, with the task, too, and after each
//     Block; a few tasks a second are measured in any case, to find that out.

// exactLead is the longest lead for which stretches are measured: at the beginning of each, after a
// Block, and at its end, two system calls take 0.5 µs together. Tasks with a longer one are sampled
// often enough before they reach it.
const exactLead = int64(100 * time.Millisecond)

// shortLead is the longest lead of tasks that are measured in stretches from their first moments
// on. Readings of the process's processor time are up to oldCPU apart, and say nothing about single
// threads: while three other processes wanted two cores, a limit of 5 ms threw into half of the
// tasks that needed 3.
const shortLead = 5 * oldCPU

// beginStretch begins a stretch if a time policy is near: the task has used an eighth of its lead,
// as at the first sample, or the lead is short and threads lack cores. Called by the task's
// goroutine, which runs in a slot and is not blocked.
func (s *strand) beginStretch(now int64) {
	k := s.loop.leads.Load()
	if k == nil || k.least > s.longestExact() {
		return
	}
	ran, lacking := s.running(now), s.loop.rt.cpu.lacking(now)
	if ran < k.least/8 && !(k.least <= shortLead && lacking) {
		return
	}
	lead := k.lead(s.loop.rt, s.task.class, s.core.Kind)
	if s.isExact(lead, ran) || lead <= shortLead && lacking {
		s.remembers().stretch.begin(now)
	}
}

// longestExact returns exactLead, or Never if tasks of the class often wait unannounced: the look
// that finds such a wait comes some time after its beginning.
func (s *strand) longestExact() int64 {
	if s.task.class.lent.Load() >= fewLooks {
		return notify.Never
	}
	return exactLead
}

// isExact reports whether a stretch begins whenever the task gets a slot, once it has run for ran.
func (s *strand) isExact(lead, ran int64) bool {
	return lead != notify.Never && lead <= s.longestExact() && ran >= lead/8
}

// startsStretch notes the lead of a task that starts, if it is short, and begins a stretch then if
// threads lack cores, or to find that out. Otherwise a safe point begins one if the task runs on:
// most tasks end before that, and need no system calls. Called by the task's goroutine.
func (s *strand) startsStretch(lead int64) {
	m := s.stacks.Load()
	if lead > shortLead {
		if m != nil {
			m.lead = 0
		}
		return
	}
	if _, known := goroutine.Leaves(); !known || !kernel.ThreadTells {
		return // stretches tell nothing here
	}
	if m == nil {
		m = s.remembers()
	}
	m.lead = lead
	cpu := &s.loop.rt.cpu
	if from := s.runBase.Load(); !m.inStretch() && (cpu.lacking(from) || cpu.tries(from)) {
		m.stretch.begin(from)
	}
}

// firstLook is the time that a task with a short lead runs before its safe points begin a stretch.
func firstLook(lead int64) int64 { return lead / 16 }

// longRun is how long a task must have run without a pause before its safe points measure it. Tasks
// that pause more often are measured after their Blocks, if their leads are short.
const longRun = int64(time.Millisecond)

// measures begins a stretch at a safe point of a task that computes, if a time policy is near and
// the task is in no stretch. Without one, the task would be charged for the processor time of other
// threads, too, such as the timer's: while three other processes wanted the only core, a limit of
// 20 ms threw into most tasks that needed 8. The task must have kept its P since the last sample:
// otherwise only a sample can tell how much of the time since then it had no P, and measures asks
// the timer for one. Called by the task's goroutine.
func (s *strand) measures(now int64) {
	k := s.loop.leads.Load()
	if k == nil || !kernel.ThreadTells || s.stacks.Load().inStretch() {
		return
	}
	lead := k.lead(s.loop.rt, s.task.class, s.core.Kind)
	ran := s.running(now)
	if lead == notify.Never || ran < firstLook(lead) || lead > shortLead && ran < lead/8 {
		return
	}
	m := s.remembers()
	switch {
	case m.stretch.left() && s.comesBackTo(&m.stretch):
		return
	case ran < lead/8:
		s.beginsShort(lead)
		return
	case !m.onP.keeps(now):
		return
	}
	s.loop.lock() // the timer must not look in between
	now = notify.Now()
	s.meet(now)
	switch since := m.onP.since; {
	case since < s.core.Since():
		m.onP.since = now // of an earlier task
	case since <= s.sampled:
		if s.sampled < now {
			cpu := s.loop.rt.cpu.past.recent(now)
			s.starve(now-s.sampled-s.served(now, &cpu), now)
			s.sampled = now
		}
		m.stretch.begin(now)
	default:
		s.loop.tickBy(now) // for a sample
	}
	s.loop.unlock()
}

// beginsShort begins a stretch of a task with a short lead that has just started. Until now, all
// its time in its slot counts. Called by the task's goroutine.
func (s *strand) beginsShort(lead int64) {
	s.loop.lock()
	defer s.loop.unlock()
	now := notify.Now()
	if s.meet(now); now-max(s.sampled, s.core.Since()) < lead/8 {
		s.sampled = now
		s.stacks.Load().stretch.begin(now)
	}
}

// comesBackTo begins a new stretch after one that the task's goroutine has left, if it is on the
// same thread again. Called by the goroutine.
func (s *strand) comesBackTo(left *stretch) bool {
	s.loop.lock()
	defer s.loop.unlock()
	now := notify.Now()
	s.meet(now)
	off, same := left.back(s.sampled, now)
	if same {
		cpu := s.loop.rt.cpu.past.recent(now)
		s.starve(max(off, now-s.sampled-s.served(now, &cpu)), now)
		s.loop.rt.cpu.lacked(off, now)
		s.sampled = now
		left.begin(now)
	}
	return same
}

// lacksStretch returns the task's lead if it is short and the calling goroutine, which is the
// task's, is in no stretch; otherwise 0.
func (m *stackMemory) lacksStretch() (lead int64) {
	if m == nil || m.lead == 0 || m.inStretch() {
		return 0
	}
	return m.lead
}

// inStretch reports whether the calling goroutine, which is the task's, is in a stretch.
func (m *stackMemory) inStretch() bool {
	if m == nil || m.stretch.state.Load() == noStretch {
		return false
	}
	leaves, known := goroutine.Leaves()
	return known && leaves == m.stretch.leaves
}

// endStretch subtracts the time that the task had no processor in its stretch. Called by the task's
// goroutine before anything that does not count as running. If the task is going to wait, it keeps
// no stacks of a request that is over.
func (s *strand) endStretch() {
	m := s.stacks.Load()
	if m == nil {
		return
	}
	if m.masked != nil && s.requests.Load() == 0 {
		m.masked = nil
	}
	if m.stretch.state.Load() == noStretch {
		return
	}
	now := notify.Now()
	if off := m.stretch.end(now); off >= worthALock {
		s.loop.lock()
		s.loop.rt.cpu.lacked(off, now)
		locked := notify.Now() // it has waited for the lock, too
		s.starve(off+locked-max(now, s.sampled), locked)
		s.sampled = locked
		s.loop.unlock()
	}
}

// remembers returns the strand's memory, which is made when it is first needed.
func (s *strand) remembers() *stackMemory {
	if m := s.stacks.Load(); m != nil {
		return m
	}
	s.stacks.CompareAndSwap(nil, new(stackMemory)) // the goroutine and the timer may both need it
	return s.stacks.Load()
}

// worthALock is the least time without a processor that is worth the loop's lock.
const worthALock = int64(20 * time.Microsecond)

// startsLate subtracts the time since the grant of the slot that the task has waited for from its
// running time: only now it has a processor. Called by the task's goroutine.
func (s *strand) startsLate() {
	now := notify.Now()
	if now-s.restedAt.Load() >= worthALock && !s.parked.Load() {
		s.loop.lock()
		now = notify.Now()   // it has waited for the lock, too
		if s.sampled < now { // otherwise a sample has done so
			s.starve(now-s.sampled, now)
			s.sampled = now
		}
		s.loop.unlock()
	}
	s.beginStretch(now)
}
