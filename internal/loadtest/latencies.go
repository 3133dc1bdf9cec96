package loadtest

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Latencies summarizes the latencies of the requests of one kind.
type Latencies struct {
	Count                int
	P50, P99, P99_9, Max time.Duration
}

// SumUp summarizes durations, and sorts them. Without durations, all fields are 0.
func SumUp(took []time.Duration) Latencies {
	slices.Sort(took)
	return Latencies{len(took), percentile(took, 0.5), percentile(took, 0.99), percentile(took, 0.999), percentile(took, 1)}
}

// percentile returns the least of the sorted values for which at least the share p of the values is
// not greater (nearest rank), and 0 without values.
func percentile(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(p * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// Ms formats a duration for a table; 0 means no value and becomes a dash.
func Ms(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
}
