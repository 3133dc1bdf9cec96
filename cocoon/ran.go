package cocoon

import (
	"math/rand/v2"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/kernel"
	"github.com/cocoon-go/cocoon/notify"
)

// What running is. A task that holds a slot does not always run: it may wait unannounced, it may be
// ready without a P, the kernel may give its core to other processes, a quota may throttle the
// process, and a signal may stop it. A limit on running time must not throw because of any of
// these. So, while a policy or an account depends on it, the running time of tasks that hold a slot
// for sampleRunning or longer is sampled. From the time since the last sample, the runtime
// subtracts
//
//   - if the goroutine waits or is in a system call (the time counts as blocked), or is back from a
//     wait and without a P (it counts as starved): all of it if the goroutine has not run since the
//     last sample (stays), and otherwise up to 20 ms;
//   - the part that exceeds the processor time that the whole process has used since then, because
//     no task can have run longer than that. This is exact if one task keeps the process busy, and
//     otherwise a bound. Windows does not tell that time exactly (kernel.ExactCPU);
//   - the part that exceeds an equal share of that processor time, if the process got less of it
//     than the goroutines that want a P could use: if there are more of them than Ps, or more Ps
//     than cores, which a hot runtime makes possible, if other processes want the cores, or if the
//     timer fired much too late (tooLate). There is no way to know which of the goroutines had a
//     core. If there are more goroutines than Ps, the state in which a look finds the task says
//     little: with 40 on two Ps, a task found running twice would have used up a limit of 20 ms.
//
// Before a task's first sample, all time with a slot counts. The first sample comes after an eighth
// of the task's lead, the least time that the policies leave it. So an eighth of a limit may be
// time that the task did not run, and a busy server with a limit of 500 ms wakes the timer 16 times
// a second instead of 100. If other goroutines share the cores at that moment, the sample is put
// off (putOff). If the lead is short, the later samples are as close together: a task
// with a limit of 5 ms that waits for a connection of its pool would exceed the limit before a
// second look after 10 ms. A task that was found waiting is looked at again after an eighth of its
// wait, and after half of its lead at the latest, so an idle stream rarely wakes the timer. A task
// on which no time policy can act is not sampled.
const sampleRunning = int64(10 * time.Millisecond)

// leastSample is the time between samples for the shortest leads. A look costs one load, but it
// wakes the timer.
const leastSample = int64(500 * time.Microsecond)

// tooLate is how late the timer must be to show that the process lacked processors. Go itself
// delays a goroutine by 10 ms if all Ps are busy.
const tooLate = 2 * sampleRunning

// firstSample returns how long after it got its slot a task is first sampled.
func firstSample(lead int64) int64 {
	if lead == notify.Never {
		return lead
	}
	return max(leastSample, lead/8)
}

// samplesOf returns the time between later samples.
func samplesOf(lead int64) int64 { return min(sampleRunning, firstSample(lead)) }

// idleLook returns how long to wait before another look at a task that has waited for a while: an
// eighth of the wait, but at most half of the task's lead and at most a second. A lead below 200 ms
// counts as 200 ms, because each look wakes the timer.
func idleLook(waited, lead int64) int64 {
	return min(waited/8, max(maxSweep, min(lead/2, int64(time.Second))))
}

// Looks that find a task running among other goroutines that want a P put its first sample off,
// putOffs times at most, and at most until the task has run for three quarters of its lead. With
// one reading, short requests that happen to be there count as if they had shared the cores since
// the task began: a limit of 100 ms threw 12 ms late in 7 of 100 attacks among 500 requests a
// second (bench redos). Most of them have ended at the next look. On one P they have not, because
// the timer gets the P when they are all ready; there the looks make the runtime hot (strainTimes),
// and the next look has a P of its own. If the process got less processor time than a single busy
// task takes, the sample is not put off: the timer of a throttled process comes late, and a task
// that did not run would exceed its limit before the next look.
const putOffs = 4 // one more than strainTimes

// nextLook returns how long to put a first sample off.
func nextLook(every int64) int64 { return min(2*int64(time.Millisecond), every/2) }

// sampleRan subtracts the time that running tasks have not run since the last sample, and returns
// when to sample again. late is by how many ns the timer fired late. Called by the timer, under the
// loop's lock, after gather.
func (l *Loop) sampleRan(k *leads, now, late int64, cpu cpuSample) (next int64) {
	if late < tooLate {
		late = 0
	} else {
		tasks := 0.0
		l.running(func(*strand) bool { tasks++; return true })
		cpu.sharers = max(cpu.sharers, tasks)
	}
	next = notify.Never
	l.running(func(s *strand) bool {
		if lead := k.lead(l.rt, s.task.class, s.core.Kind); lead != notify.Never {
			next = min(next, s.sampleRan(lead, now, late, cpu))
		}
		return true
	})
	return next
}

// needsReading reports whether a sample due now must come with a reading of the processor time,
// because the samples since the last reading cover too much time: as much as samples of the task
// are apart, or oldCPU. Other work of the timer makes readings, too, so the last one may be too
// young for sample. Without this rule, a task was charged in several samples one after another for
// 40 ms in which three other processes had its core. Called by the timer, under the loop's lock,
// after gather.
func (l *Loop) needsReading(k *leads, now int64) (needs bool) {
	l.running(func(s *strand) bool {
		c, since := s.checks, s.core.Since()
		if c != nil {
			since = max(since, c.readAt)
		}
		if c != nil && now < c.until || now-since < leastSample {
			return true
		}
		lead := k.lead(l.rt, s.task.class, s.core.Kind)
		covers := firstSample(lead)
		if c != nil && c.cpuAt != 0 {
			covers = min(covers, oldCPU)
		}
		needs = lead != notify.Never && now-since >= covers
		return !needs
	})
	return needs
}

func (s *strand) sampleRan(lead, now, late int64, cpu cpuSample) (next int64) {
	span, from, every := now-s.sampled, firstSample(lead), samplesOf(lead)
	k := s.checked()
	least, known := s.lookAtStretch(now)
	if known {
		return s.sampledTo(now, every, cpu)
	}
	if s.task.Status() == Starting { // it has its slot, and no processor yet
		s.starve(span, now)
		return s.sampledTo(now, every, cpu)
	}
	if now < k.until {
		return k.until
	}
	if k.cpuAt == 0 && from > sampleRunning { // the first sample of a task with a long lead
		if span < from {
			return s.sampled + from
		}
	}
	vouched := min(span, 2*sampleRunning) // one look says nothing about a time long before it
	off, blocked := s.notRunning(span, vouched, min(span, late))
	waits := off > 0 && off >= vouched && !k.lostP // one that has lost its P soon runs again
	if cpu.expected {
		if cpu.readings != nil {
			cpu.sharers = max(cpu.sharers, float64(cpu.readings.least(s.core.Since())))
			if cpu.sharers > 1 && off == 0 && s.mayPutOff(now, lead, cpu) {
				return s.putOff(now, nextLook(every), cpu)
			}
		}
		served := s.served(now, &cpu)
		if served > 0 {
			served = served * (span - off) / max(1, span)
		}
		off = max(off, span-served)
	}
	off = max(off, min(least, span), s.overcounted(span, now))
	if late > 0 && !k.kept { // one look says nothing about a time long before it
		off = max(off, span-2*every)
	}
	if k.waitsSince != 0 {
		// It waited at the last sample: assume it ran for half of the time since then at most, and
		// not for long.
		off = max(off, span/2, span-every)
	}
	again := every
	if !waits {
		k.waitsSince = 0
	} else {
		if k.waitsSince == 0 {
			k.waitsSince = now
		}
		if !k.newWait {
			again = max(min(4*every, sampleRunning), idleLook(now-k.waitsSince, lead))
		}
	}
	if off > 0 {
		s.core.Discount(off, blocked, now)
		s.runBase.Store(now - s.core.Ran(now))
	}
	return s.sampledTo(now, again, cpu)
}

// sampledTo records a sample, and returns when to take the next, after again.
func (s *strand) sampledTo(now, again int64, cpu cpuSample) (next int64) {
	k := s.checked()
	if s.sampled, k.putOffs = now, putOffs; cpu.expected {
		k.cpuAt, k.ranAt, k.readAt = cpu.used, s.core.Ran(now), now
	}
	// Vary the interval: a task that a ticker wakes would be found running whenever both timers
	// coincide.
	return now + again*3/4 + rand.Int64N(again/2)
}

// sampleLate samples a task that gives up its slot, or asks for one, if the timer has not come for
// long: a throttled process often stood still until now, and the task's goroutine runs before the
// timer. If goroutines wait for Ps, and the task's may have waited for one since the last sample,
// it is charged for two intervals at most. Called under the loop's lock.
func (s *strand) sampleLate(now int64) {
	span, off := now-s.sampled, int64(0)
	if span < tooLate {
		return
	}
	if kernel.ExactCPU {
		cpu := s.loop.rt.cpu.past.recent(now)
		off = span - s.served(now, &cpu)
	}
	if k := s.loop.leads.Load(); k != nil && !s.keepsP() && s.loop.rt.cpu.past.crowded() {
		off = max(off, span-2*samplesOf(k.lead(s.loop.rt, s.task.class, s.core.Kind)))
	}
	s.starve(off, now)
	s.sampled = now
}

// lookAtStretch subtracts the time until now that a task had no processor in its stretch
// (exact.go), if it is in one. If it has left its stretch and stopped, least is the least time that
// it had no processor, which the caller subtracts, or nothingKnown. Called under the loop's lock.
func (s *strand) lookAtStretch(now int64) (least int64, known bool) {
	m := s.stacks.Load()
	if m == nil {
		return nothingKnown, false
	}
	status := s.status()
	stopped := status == goroutine.Runnable || status == goroutine.Ready || status == goroutine.Waiting
	// The minimum, because no leap of the clock counts.
	off, known := m.stretch.look(s.g.Load(), s.sampled, min(now, notify.Now()), stopped)
	s.loop.rt.cpu.lacked(off, now)
	if known && off > 0 {
		s.starve(off, now)
	}
	return off, known
}

// mayPutOff reports whether the sample is the task's first, and may be put off.
func (s *strand) mayPutOff(now, lead int64, cpu cpuSample) bool {
	k := s.checked()
	used, read := cpu.usedSince(s.sampled, now)
	if k.putOffs == putOffs || !read || now-s.core.Since() >= lead/4*3 {
		return false
	}
	if k.putOffs > 0 {
		used = cpu.used - k.cpuAt
	}
	return float64(used) >= 0.9*float64(now-s.sampled)
}

// putOff puts the first sample of a task off. The look that samples it at last covers all the time
// since the task began, with the least of the readings.
func (s *strand) putOff(now, by int64, cpu cpuSample) (next int64) {
	k := s.checked()
	if span := now - s.sampled; k.putOffs == 0 {
		used, _ := cpu.usedSince(s.sampled, now)
		k.cpuAt, k.ranAt = max(1, cpu.used-used), s.core.Ran(now)-span
	}
	k.putOffs++
	k.until = now + by
	cpu.readings.wanted = k.until
	return k.until
}

// minSweep and maxSweep bound the time between two looks at tasks that hold no slot.
const (
	minSweep = int64(10 * time.Millisecond)
	maxSweep = int64(100 * time.Millisecond)
)
