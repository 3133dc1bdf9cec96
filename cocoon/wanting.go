package cocoon

import (
	"runtime"
	"runtime/metrics"
)

// goroutineCounts is for metrics.Read. One goroutine at a time may use it.
type goroutineCounts [2]metrics.Sample

// wanting returns how many goroutines have a P or are ready for one, without the caller, which may
// have taken the P of another goroutine. Before Go 1.26, which does not say, it is unknown. Cost:
// about 1 µs (BenchmarkCosts). It may wait for a lock of package runtime/metrics.
func (c *goroutineCounts) wanting() (n int64, known bool) {
	c[0].Name, c[1].Name = "/sched/goroutines/running:goroutines", "/sched/goroutines/runnable:goroutines"
	metrics.Read(c[:])
	if c[0].Value.Kind() != metrics.KindUint64 || c[1].Value.Kind() != metrics.KindUint64 {
		return 0, false
	}
	return max(0, int64(c[0].Value.Uint64()+c[1].Value.Uint64())-1), true
}

// crowded reports whether more goroutines want a P than there are Ps. Without knowing, it reports
// true.
func (g *goroutineCounts) crowded() bool {
	n, known := g.wanting()
	return !known || n > int64(runtime.GOMAXPROCS(0))
}
