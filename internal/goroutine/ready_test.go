package goroutine

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// TestReady: on one P, a goroutine that was woken is Ready until it runs, and a goroutine whose P
// was taken is Runnable.
func TestReady(t *testing.T) {
	learned(t)
	if wait.at.Load() == 0 {
		t.Fatal("the place where goroutines go on was not found")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	id, release := waiting()
	if s := StatusOf(id); s != Waiting {
		t.Fatalf("status %d of a goroutine that waits; want %d", s, Waiting)
	}
	release()
	if s := StatusOf(id); s != Ready {
		t.Errorf("status %d of a goroutine that was woken; want %d", s, Ready)
	}

	var stop atomic.Bool
	ids := make(chan uintptr, 1)
	go func() {
		for ids <- ID(); !stop.Load(); {
		}
	}()
	defer stop.Store(true)
	id = <-ids
	for range 3 {
		runtime.Gosched() // until the runtime takes its P
		if s := StatusOf(id); s != Runnable {
			t.Errorf("status %d of a goroutine that spins; want %d", s, Runnable)
		}
	}
}
