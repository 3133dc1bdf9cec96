//go:build !linux

package kernel

// ThreadTells reports whether ThreadCPU can tell a thread's time.
const ThreadTells = false

// Thread returns the number of the calling thread, which ThreadCPU takes; 0: unknown.
func Thread() int32 { return 0 }

// ThreadCPU returns the processor time that a thread of the process has used, in ns. It is not ok
// here.
func ThreadCPU(int32) (used int64, ok bool) { return 0, false }
