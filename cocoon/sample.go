package cocoon

import (
	"math"
	"runtime/metrics"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/kernel"
	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/notify"
)

// sampleEvery is the maximum age of the process's values.
const sampleEvery = int64(10 * time.Millisecond)

// renew reads the values of the process if they are too old. It takes about 3 µs
// (BenchmarkCosts).
func (s *sample) renew(now int64) {
	if s.recent(now) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.recent(now) {
		return
	}
	s.read[0].Name, s.read[1].Name = "/sched/goroutines:goroutines", "/memory/classes/heap/objects:bytes"
	metrics.Read(s.read[:])
	s.goroutines.Store(s.read[0].Value.Uint64())
	s.heap.Store(s.read[1].Value.Uint64())
	cpu, at := kernel.ProcessCPU(), s.at.Load()
	if at != 0 {
		s.cpu.Store(math.Float64bits(float64(cpu-s.lastCPU) / float64(now-at)))
	}
	s.lastCPU = cpu
	s.at.Store(now)
}

func (s *sample) recent(now int64) bool {
	at := s.at.Load()
	return at != 0 && now-at < sampleEvery
}

// expect records when the next tick should come.
func (s *sample) expect(next int64) { s.expected = next }

// tick records how late this tick is.
func (s *sample) tick(now int64) {
	if s.expected != 0 && s.expected != notify.Never && now >= s.expected {
		s.late.Store(now - s.expected)
	}
}

// load returns the loop's state in numbers, including tasks in open slots. Called under the loop's
// lock.
func (l *Loop) load(now int64) sched.Load {
	load := l.core.Load(now)
	for i := range l.slots {
		load.BusyTime += l.slots[i].running.Load()
		if s := l.slots[i].quick(); s != nil {
			load.Busy++
			load.BusyTime += max(0, now-s.runBase.Load())
		}
		if c := l.slots[i].holder.Load(); c != nil && c.strand != nil {
			rested, rests := c.strand.rested(now)
			if load.BusyTime -= rested; rests {
				load.Busy--
			}
		}
	}
	return load
}

const usageWindow = float64(100 * time.Millisecond)

// utilization returns the share of slot time in use, computed at most once a millisecond. Called
// under the loop's lock.
func (l *Loop) utilization(now int64) float64 {
	u := &l.usage
	d := now - u.asOf
	if d < int64(time.Millisecond) {
		return u.share
	}
	load := l.load(now)
	recent := float64(load.BusyTime-u.busy) / (float64(d) * float64(load.Slots)) * l.working()
	u.share += (min(max(0, recent), 1) - u.share) * (1 - math.Exp(-float64(d)/usageWindow))
	u.asOf, u.busy = now, load.BusyTime
	return u.share
}

// working returns the share of tasks with a slot that do not wait unannounced, as found by one
// look. It returns 1 if no task holds a slot. Without it a loop of sleeping tasks would seem busy
// until another task needs their slots, and idle from then on. A loop that keeps the slots of
// waiting tasks counts them as in use. Called under the loop's lock.
func (l *Loop) working() float64 {
	if !l.lends() {
		return 1
	}
	held, waiting := 0, 0
	for i := range l.slots {
		if c := l.slots[i].holder.Load(); c != nil && c.strand != nil && c.strand.rest.Load() >= 0 {
			held++
			if c.strand.status() == goroutine.Waiting {
				waiting++
			}
		}
	}
	if held == 0 {
		return 1
	}
	return float64(held-waiting) / float64(held)
}
