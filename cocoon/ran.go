package cocoon

import (
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/notify"
)

// What running is. A task that holds a slot need not run: it may wait unannounced, it may be ready
// and have no P, the kernel may give its core to others, a quota may throttle the process, and a
// signal may stop it. A limit on running time must not throw for any of these. So the running time
// of tasks that hold a slot for sampleRunning and longer is sampled, while a policy or an account
// depends on it. Of the time since the last sample
//
//   - all is taken off where the goroutine is found parked or in a system call (it counts as
//     blocked), or ready without a P (it counts as starved);
//   - and what exceeds the processor time that the whole process has used meanwhile, for no task
//     can have run longer than that. It is exact where one task keeps the process busy, and a bound
//     else;
//   - and, where the timer came much too late (tooLate), what exceeds an equal share of the
//     processor time that the process has used: too many wanted the cores, and it cannot be known
//     which of the tasks had one;
//   - and the same where more goroutines have a P than there are cores, as a hot runtime makes
//     possible: the kernel shares the cores among their threads.
//
// Of a task that is not sampled yet the time that it held a slot counts. The first sample is made
// after an eighth of the least that its policies leave it, its lead: so a limit may count an eighth
// of itself that did not run, and a busy server with a limit of 500 ms wakes the timer 16 times a
// second, not 100. Where the lead is short the later samples are as far apart: a task with a limit
// of 5 ms that waits for a connection of its pool would be over it before a second look after 10
// ms. A task that was found waiting for some time is looked at again after an eighth of that, but
// not later than after half of its lead, so that an idle stream wakes nobody for long. A task about
// which no time policy can do anything is not sampled.
const sampleRunning = int64(10 * time.Millisecond)

// leastSample is the time between samples for the shortest leads. A look is a load, but it wakes
// the timer.
const leastSample = int64(500 * time.Microsecond)

// tooLate is a lateness of the timer that says that the process lacked processors. Go itself delays
// a goroutine by 10 ms, where all Ps are busy.
const tooLate = 2 * sampleRunning

// firstSample returns when a task is sampled first, after it got its slot.
func firstSample(lead int64) int64 {
	if lead == notify.Never {
		return lead
	}
	return max(leastSample, lead/8)
}

// sampleFrom has the task's running counted from now on.
func (s *strand) sampleFrom(now int64) { s.sampled, s.cpuAt, s.waitsSince = now, 0, 0 }

// samplesOf returns the time between later samples.
func samplesOf(lead int64) int64 { return min(sampleRunning, firstSample(lead)) }

// idleLook returns how long not to look at a task that was found waiting for so long, and to which
// policies leave the lead: an eighth of the wait, but no more than half the lead or a second; what
// policies leave below 200 ms counts as that.
func idleLook(waited, lead int64) int64 {
	return min(waited/8, max(maxSweep, min(lead/2, int64(time.Second))))
}

// cpuSample is a reading of the process's processor time, and the reading before. The zero
// cpuSample says that it is too early for another.
type cpuSample struct {
	used     int64 // ns of processor time until now
	was      int64 // until from
	from     int64 // when that was; 0: there was no reading before
	expected bool
	sharers  int64 // how many tasks, or goroutines, share the time; 0: each may have had all of it
}

// cpuClock reads the process's processor time. Only the timer's thread uses it.
type cpuClock struct {
	at, used int64
	running  [1]metrics.Sample
}

// sample reads the clock, if the last reading is old enough: it is a system call of 0.5 µs. Of a hot
// process it also asks who shares the cores.
func (c *cpuClock) sample(now int64, hot bool) (s cpuSample) {
	if c.at != 0 && now-c.at < sampleRunning/2 {
		return s
	}
	s = cpuSample{used: processCPU(), was: c.used, from: c.at, expected: true}
	c.at, c.used = now, s.used
	if hot {
		if n := c.withProcessor(); n > int64(runtime.NumCPU()) {
			s.sharers = n
		}
	}
	return s
}

// withProcessor returns how many goroutines have a P beside the caller; 0 before Go 1.26, which does
// not tell. It takes a microsecond.
func (c *cpuClock) withProcessor() int64 {
	c.running[0].Name = "/sched/goroutines/running:goroutines"
	metrics.Read(c.running[:])
	if c.running[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(c.running[0].Value.Uint64()) - 1
}

// sampleRan takes off what the tasks that run have not run since the last sample, and returns when
// to sample again. The timer comes late by so many ns. Called by the timer, under the loop's lock,
// after gather.
func (l *Loop) sampleRan(k *leads, now, late int64, cpu cpuSample) (next int64) {
	if late < tooLate {
		late = 0
	} else {
		tasks := int64(0)
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

func (s *strand) sampleRan(lead, now, late int64, cpu cpuSample) (next int64) {
	span, from, every := now-s.sampled, firstSample(lead), samplesOf(lead)
	if s.cpuAt == 0 && from > sampleRunning { // the first of one that has time
		if span < from {
			return s.sampled + from
		} else if !cpu.expected {
			return now + sampleRunning
		}
	}
	off, blocked := int64(0), false
	if cpu.expected {
		off = max(0, s.unserved(now, cpu))
	}
	vouched := min(span, 2*sampleRunning) // one look says nothing of what was long before
	switch goroutine.StatusOf(s.g.Load()) {
	case goroutine.Parked:
		off, blocked = max(off, vouched, min(span, late)), true
	case goroutine.Syscall:
		if s.inCall {
			off, blocked = max(off, vouched), true
		}
		s.inCall = true
	case goroutine.Runnable:
		if s.inCall = false; !s.loop.rt.cfg.KeepProcs {
			off = max(off, vouched)
		} // else the timer's own goroutine may have the P that the task had until now
	default:
		s.inCall = false
	}
	again := every
	if off > 0 && off >= vouched {
		if s.waitsSince == 0 {
			s.waitsSince = now
		}
		again = max(min(4*every, sampleRunning), idleLook(now-s.waitsSince, lead))
	} else if s.waitsSince != 0 {
		// It waited at the last sample: in doubt it ran for half of the time since, and not for
		// long.
		off, s.waitsSince = max(off, span/2, span-every), 0
	}
	if off > 0 {
		s.core.Discount(off, blocked, now)
		s.runBase.Store(now - s.core.Ran(now))
	}
	if s.sampled = now; cpu.expected {
		s.cpuAt, s.ranAt = cpu.used, s.core.Ran(now)
	}
	// Not at even times: a task that a ticker wakes would be found running whenever both timers
	// meet.
	return now + again*3/4 + rand.Int64N(again/2)
}

// unserved returns by how much the task's running exceeds what the process has used of its
// processors, or its share of that: since the task's last sample or, for the first, since the
// reading before.
func (s *strand) unserved(now int64, cpu cpuSample) int64 {
	share := max(1, cpu.sharers)
	switch {
	case s.cpuAt != 0:
		return s.core.Ran(now) - s.ranAt - (cpu.used-s.cpuAt)/share
	case cpu.from != 0:
		return now - max(cpu.from, s.sampled) - (cpu.used-cpu.was)/share
	}
	return 0
}
