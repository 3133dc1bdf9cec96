package cocoon

import "golang.org/x/sys/unix"

// yieldCore lets another thread of this core run, if one waits: about 1 µs, and nothing else happens if none does. It is
// a raw system call, because it returns at once as far as Go is concerned: the P stays here.
func yieldCore() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
