package cocoon

import (
	"runtime"
	"time"

	"github.com/cocoon-go/cocoon/internal/kernel"
)

// cpuSample is a reading of the process's processor time, together with earlier readings. The zero
// cpuSample says: too early for a new reading, or the system does not tell the time exactly.
type cpuSample struct {
	used     int64    // ns of processor time used so far
	past     *pastCPU // the readings until now; nil if there was no reading
	procs    int64    // GOMAXPROCS
	expected bool
	sharers  float64  // how many tasks or goroutines wanted the time; 0 if unknown
	readings *sharers // of the goroutines; nil if they were not counted
	crowded  bool     // a goroutine waits for a P

	early *cpuClock // it was too early for a new reading of this clock; nil: it was not
}

// sample reads the clock if the last reading is old enough, or if there was a crowd then: a look
// without a reading would charge a task for all the time since the last. It also reads the clock if
// a first sample was put off until now. A reading is a system call of about 2 µs (BenchmarkCosts).
// If shared is set, it also counts the goroutines that share the cores.
func (c *cpuClock) sample(now int64, shared bool) (s cpuSample) {
	if !kernel.ExactCPU {
		return s
	}
	procs := int64(runtime.GOMAXPROCS(0))
	due := c.sharers.wanted != 0 && now >= c.sharers.wanted
	if c.at != 0 && now-c.at < oldCPU && !(shared && c.sharers.newest.n > procs) && !due {
		s.early = c
		return s
	}
	return c.read(now, shared)
}

// read reads the clock. Called by the timer, where the system tells the time exactly.
func (c *cpuClock) read(now int64, shared bool) (s cpuSample) {
	procs := int64(runtime.GOMAXPROCS(0))
	s = cpuSample{used: kernel.ProcessCPU(), past: &c.past, procs: procs, expected: true}
	c.at = now
	c.past.add(now, s.used)
	if shared {
		n, _ := c.counts.wanting()
		c.sharers.add(now, n)
		s.readings, s.crowded = &c.sharers, n > procs
	}
	return s
}

// goroutines returns how many goroutines want a P, and how many of these always do, if that is
// known. Called by the timer.
func (c *cpuClock) goroutines(now int64) (n, lasting int64, known bool) {
	if n, known = c.counts.wanting(); known {
		c.sharers.add(now, n)
	}
	return n, c.sharers.least(0), known
}

// crowded reports whether more goroutines want a P than there are Ps, at this moment. Without
// knowing, it reports true. Called by the timer.
func (c *cpuClock) crowded() bool { return c.counts.crowded() }

// usedSince returns how much processor time the process has used since a time before the first
// sample of a task, at most: what it has used since a reading before that time, or since a later
// reading and with all Ps until then. read is false if there is no earlier reading: then the
// process has used no more than since its start.
func (c *cpuSample) usedSince(from, now int64) (most int64, read bool) {
	most = min((now-from)*c.procs, c.used)
	if c.past == nil {
		return most, false
	}
	return c.past.usedSince(most, c, from, now)
}

// share returns how much a task can have had of the processor time that the process has used while
// the task was thought to run: all of it, or an equal share if the process got less than its
// goroutines could use.
func (c *cpuSample) share(ran, used int64) int64 {
	if c.sharers > 1 && float64(used) < 0.9*c.sharers*float64(ran) {
		used = int64(float64(used) / c.sharers)
	}
	return min(ran, used)
}

// usedSince returns the least of most and of what the readings before now tell, see
// cpuSample.usedSince.
func (p *pastCPU) usedSince(most int64, c *cpuSample, from, now int64) (used int64, read bool) {
	p.mu.Lock()
	for i := range p.readings { // the index alone: a copy would take the stack that unseat lacks
		if r := &p.readings[i]; r.at != 0 && r.at < now {
			most, read = min(most, c.used-r.used+max(0, r.at-from)*c.procs), true
		}
	}
	p.mu.Unlock()
	return most, read
}

// freshCPU is for how long a reading serves all tasks that give up their slots. Otherwise a crowd
// of them that waits for the loop's lock would spend most of its time on readings.
const freshCPU = int64(100 * time.Microsecond)

// recent returns a sample that bounds the processor time used until now, from a reading at most
// freshCPU old and all Ps since. Called under a loop's lock.
func (p *pastCPU) recent(now int64) (s cpuSample) {
	s.past, s.procs = p, int64(runtime.GOMAXPROCS(0))
	p.mu.Lock()
	if p.fresh.at == 0 || now-p.fresh.at > freshCPU {
		p.fresh = cpuReading{now, kernel.ProcessCPU()}
	}
	s.used = p.fresh.used + max(0, now-p.fresh.at)*s.procs
	p.mu.Unlock()
	return s
}
