package cocoon

import (
	"runtime"
	"sync"
	"time"

	"github.com/cocoon-go/cocoon/internal/kernel"
)

// cpuClock reads the process's processor time. Only the timer's thread uses it, except for past.
type cpuClock struct {
	at      int64 // of the newest reading; 0: there was none
	past    pastCPU
	sharers sharers
	counts  goroutineCounts
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

// freshCPU is for how long a reading serves all tasks that give up their slots: a crowd of them that
// waits for the loop's lock would otherwise spend most of its time on readings.
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
