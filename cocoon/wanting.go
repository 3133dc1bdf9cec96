package cocoon

import "runtime/metrics"

// goroutineCounts is for metrics.Read. One goroutine at a time may use it.
type goroutineCounts [2]metrics.Sample

// wanting returns how many goroutines have a P or are ready for one, without the caller, which may
// have taken the P of another goroutine. It returns 0 before Go 1.26, which does not say. Cost:
// about 1 µs (BenchmarkCosts).
func (c *goroutineCounts) wanting() int64 {
	c[0].Name, c[1].Name = "/sched/goroutines/running:goroutines", "/sched/goroutines/runnable:goroutines"
	metrics.Read(c[:])
	if c[0].Value.Kind() != metrics.KindUint64 || c[1].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return int64(c[0].Value.Uint64()+c[1].Value.Uint64()) - 1
}

// rivals is the latest count of the goroutines that want a P. Guarded by the loop's lock.
type rivals struct {
	at, wanting int64
	counts      goroutineCounts
}
