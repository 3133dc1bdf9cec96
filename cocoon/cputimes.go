package cocoon

import (
	"sync"
	"time"
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
