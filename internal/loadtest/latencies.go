package loadtest

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Latencies sums up how long the requests of one kind took.
type Latencies struct {
	Count                int
	P50, P99, P99_9, Max time.Duration
}

// SumUp sums up durations, and sorts them. Of none, all is 0.
func SumUp(took []time.Duration) Latencies {
	slices.Sort(took)
	return Latencies{len(took), percentile(took, 0.5), percentile(took, 0.99), percentile(took, 0.999), percentile(took, 1)}
}

// percentile returns the least of the sorted values that at least the share p of them does not
// exceed (nearest rank), and 0 for none.
func percentile(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(p * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// Ms writes a duration for a table; 0, which is that of nothing, as a dash.
func Ms(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
}
