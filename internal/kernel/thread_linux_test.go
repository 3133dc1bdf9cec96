package kernel

import (
	"runtime"
	"testing"
	"time"
)

func TestThreadCPU(t *testing.T) {
	threads, stop := make(chan int32), make(chan bool)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		threads <- Thread()
		<-stop
	}()
	waits := <-threads
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	own, idle := usedBy(t, Thread()), usedBy(t, waits)
	for begin := time.Now(); usedBy(t, Thread())-own < int64(5*time.Millisecond); {
		if time.Since(begin) > 10*time.Second {
			t.Fatal("a busy thread uses no processor time")
		}
	}
	if d := usedBy(t, waits) - idle; d > int64(2*time.Millisecond) {
		t.Errorf("a thread that waits used %v", time.Duration(d))
	}
	close(stop)
}

func usedBy(t *testing.T, thread int32) int64 {
	t.Helper()
	used, ok := ThreadCPU(thread)
	if !ok {
		t.Fatal("no clock of a thread")
	}
	return used
}
