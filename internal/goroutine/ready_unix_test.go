//go:build unix

package goroutine

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

// TestReadyAfterSyscall: on one P, a goroutine whose system call has ended is Ready until it runs.
func TestReadyAfterSyscall(t *testing.T) {
	learned(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	ready := 0
	for range 10 {
		switch s := afterSyscall(t); s {
		case Ready:
			ready++
		case Runnable:
			t.Errorf("status %d of a goroutine whose system call has ended; want %d", s, Ready)
		}
	}
	if ready == 0 {
		t.Errorf("no goroutine was seen when its system call had ended")
	}
}

// afterSyscall returns the status in which a goroutine waits for the only P after a system call, or
// Unknown if it did not wait, because the runtime had just taken the P from the test.
func afterSyscall(t *testing.T) Status {
	var ends [2]int
	if err := syscall.Pipe(ends[:]); err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(ends[0])
	ids, ended := make(chan uintptr, 1), make(chan struct{})
	go func() {
		defer close(ended)
		ids <- ID()
		var buf [1]byte
		_, _ = syscall.Read(ends[0], buf[:]) // until the other end is closed
		time.Sleep(time.Millisecond)         // so that its record is not another goroutine's soon
	}()
	id := <-ids
	if !sees(id, Syscall) {
		t.Fatalf("status %d; want %d", StatusOf(id), Syscall)
	}
	if err := syscall.Close(ends[1]); err != nil {
		t.Fatal(err)
	}
	defer func() { <-ended }()
	for end := time.Now().Add(5 * time.Millisecond); time.Now().Before(end); { // with the only P
		if s := StatusOf(id); s == Ready || s == Runnable {
			return s
		}
	}
	return Unknown
}
