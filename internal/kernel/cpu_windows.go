package kernel

import "golang.org/x/sys/windows"

// ExactCPU reports whether ProcessCPU is exact to a millisecond. Windows counts clock ticks of 16
// ms.
const ExactCPU = false

// ProcessCPU returns the processor time that the process has used, in ns.
func ProcessCPU() int64 {
	var created, ended, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &ended, &kernel, &user) != nil {
		return 0
	}
	return hundreds(kernel) + hundreds(user)
}

// hundreds returns a number of units of 100 ns in ns.
func hundreds(t windows.Filetime) int64 {
	return (int64(t.HighDateTime)<<32 | int64(t.LowDateTime)) * 100
}
