package cocoon

import (
	"sync"
	"sync/atomic"
	"time"
)

// cpuClock reads the process's processor time. Only the timer's thread uses it, except for past and
// the atomic fields.
type cpuClock struct {
	at       int64 // of the newest reading; 0: there was none
	past     pastCPU
	sharers  sharers
	counts   goroutineCounts
	lackedAt atomic.Int64 // when a stretch last showed that a task's thread lacked a core
	triedAt  atomic.Int64 // when the first of the latest trials began
	trials   atomic.Int32 // since then
}

const (
	lackedFor  = int64(time.Second)            // for how long it counts for other threads
	leastLack  = int64(100 * time.Microsecond) // a shorter pause of a thread shows nothing
	lackedStep = int64(10 * time.Millisecond)  // how exact lackedAt is
	mostTrials = 16                            // in lackedFor
)

// lacked records that a task's thread had no core for off ns.
func (c *cpuClock) lacked(off, now int64) {
	if off >= leastLack && now-c.lackedAt.Load() >= lackedStep {
		c.lackedAt.Store(now)
	}
}

// lacking reports whether threads of the process lack cores: because of other processes, or because
// there are more Ps than cores.
func (c *cpuClock) lacking(now int64) bool {
	at := c.lackedAt.Load()
	return at != 0 && now-at < lackedFor
}

// tries reports whether a task that starts should be measured although nothing has shown that
// threads lack cores. A few tasks in each lackedFor are: a lack would otherwise show only after it
// had counted as the running time of the first tasks.
func (c *cpuClock) tries(now int64) bool {
	if at := c.triedAt.Load(); (at == 0 || now-at >= lackedFor) && c.triedAt.CompareAndSwap(at, now) {
		c.trials.Store(0)
	}
	return c.trials.Load() < mostTrials && c.trials.Add(1) <= mostTrials
}

// pastCPU holds the latest readings of the process's processor time, at least oldCPU apart, and the
// newest. The newest alone would not do: in a throttled process the timer reads the time twice
// while the process runs, and what the process used in between says nothing about the 90 ms before,
// in which it stood still. The timer adds readings; tasks that give up their slots look at them
// too.
type pastCPU struct {
	mu       sync.Mutex     // guards what follows; taken under a loop's
	readings [16]cpuReading // a ring; at is 0 where there is no reading yet
	last     int
	fresh    cpuReading // for tasks that give up their slots, see recent
	counts   goroutineCounts
}

type cpuReading struct{ at, used int64 }

// oldCPU is the age at which a reading of the processor time is read again: half of sampleRunning.
const oldCPU = int64(5 * time.Millisecond)

// add adds a reading. It replaces the newest one if that follows its predecessor too soon.
func (p *pastCPU) add(at, used int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.readings[(p.last+len(p.readings)-1)%len(p.readings)]
	if p.readings[p.last].at-before.at >= oldCPU {
		p.last = (p.last + 1) % len(p.readings)
	}
	p.readings[p.last] = cpuReading{at, used}
}

// crowded is cpuClock.crowded for tasks.
func (p *pastCPU) crowded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts.crowded()
}
