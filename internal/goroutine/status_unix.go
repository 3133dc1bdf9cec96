//go:build unix

package goroutine

import "syscall"

// provedSyscall examines a goroutine that reads from an empty pipe by a plain system call.
func provedSyscall() bool {
	var ends [2]int
	if syscall.Pipe(ends[:]) != nil {
		return false
	}
	ids, ended := make(chan uintptr), make(chan struct{})
	go func() {
		defer close(ended)
		ids <- ID()
		var buf [1]byte
		_, _ = syscall.Read(ends[0], buf[:]) // until the other end is closed
	}()
	ok := sees(<-ids, Syscall)
	_ = syscall.Close(ends[1])
	<-ended
	_ = syscall.Close(ends[0])
	return ok
}
