package cocoon

import (
	"math"

	"github.com/cocoon-go/cocoon/stubs"
)

// ofLoop returns a value of the loop. Called under the loop's lock.
func (l *Loop) ofLoop(r *read, now int64) uint64 {
	switch r.stub {
	case stubs.LoopName:
		return uint64(l.name)
	case stubs.LoopUtilization:
		return math.Float64bits(l.utilization(now))
	case stubs.QueueLength:
		return uint64(l.core.Waiting())
	case stubs.QueueSafe:
		return uint64(l.core.WaitingSafe())
	case stubs.QueueSuspended:
		return uint64(l.core.Suspended())
	case stubs.QueueOldest:
		return uint64(l.core.Oldest(now))
	case stubs.QueueCost:
		return uint64(l.core.Expected())
	case stubs.QueueWait, stubs.LoopService:
		return uint64(l.meter.quantile(r, now))
	case stubs.LoopRate:
		return math.Float64bits(l.meter.rate(now))
	case stubs.LoopSlots:
		return uint64(l.core.Slots())
	case stubs.LoopBusy:
		return uint64(l.load(now).Busy)
	}
	panic(valueless)
}

// ofRuntime returns a sampled value of the runtime and the process.
func (rt *Runtime) ofRuntime(id stubs.ID, now int64) uint64 {
	switch id {
	case stubs.RuntimeTasks:
		return uint64(rt.alive())
	case stubs.RuntimeGoroutines:
		rt.sample.renew(now)
		return rt.sample.goroutines.Load()
	case stubs.RuntimeHeap:
		rt.sample.renew(now)
		return rt.sample.heap.Load()
	case stubs.RuntimeSchedLatency:
		return uint64(rt.sample.late.Load())
	case stubs.RuntimeUptime:
		return uint64(max(0, now-rt.made))
	case stubs.RuntimeCPU:
		rt.sample.renew(now)
		return rt.sample.cpu.Load()
	}
	panic(valueless)
}
