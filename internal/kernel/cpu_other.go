//go:build !unix && !windows

package kernel

import "runtime/metrics"

// ExactCPU reports whether ProcessCPU is exact to a millisecond.
const ExactCPU = false

// ProcessCPU returns the processor time that the process has used, in ns, as the Go runtime
// estimates it. The value changes only at garbage collections.
func ProcessCPU() int64 {
	s := []metrics.Sample{{Name: "/cpu/classes/user:cpu-seconds"}}
	metrics.Read(s)
	return int64(s[0].Value.Float64() * 1e9)
}
