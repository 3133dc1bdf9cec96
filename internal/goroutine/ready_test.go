package goroutine

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
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

// TestReadyAfterHandingOver: a goroutine that unlocks a lock for which another has waited for more
// than a millisecond gives the other its P. It is Ready until it has a P again.
func TestReadyAfterHandingOver(t *testing.T) {
	learned(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var mu sync.Mutex
	var unlocking, stop atomic.Bool
	var all sync.WaitGroup
	defer all.Wait()
	defer stop.Store(true)
	ids := make(chan uintptr, 1)
	all.Go(func() {
		ids <- ID()
		for !stop.Load() {
			mu.Lock()
			for begin := time.Now(); time.Since(begin) < 2*time.Millisecond; {
				runtime.Gosched()
			}
			unlocking.Store(true)
			mu.Unlock()
			unlocking.Store(false)
		}
	})
	all.Go(func() {
		for !stop.Load() {
			mu.Lock()
			runtime.Gosched()
			mu.Unlock()
		}
	})
	id := <-ids
	for end := time.Now().Add(10 * time.Second); !unlocking.Load() || StatusOf(id) != Ready; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatal("no goroutine that gave its P away was Ready")
		}
	}
}
