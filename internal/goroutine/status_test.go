package goroutine

import (
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func learned(t testing.TB) {
	t.Helper()
	Learn()
	if statusAt.Load() == 0 {
		if canLoad && runtime.GOOS != "windows" {
			t.Fatal("the status of goroutines was not found; want it on this system")
		}
		t.Skip("the status of goroutines is not to be had here")
	}
}

func TestStatusOf(t *testing.T) {
	learned(t)
	var mu sync.Mutex
	mu.Lock()
	var stop atomic.Bool
	release := make(chan struct{})
	for name, c := range map[string]struct {
		want Status
		do   func()
	}{
		"channel": {Waiting, func() { <-release }},
		"mutex":   {Waiting, func() { mu.Lock(); defer mu.Unlock() }},
		"sleep":   {Waiting, func() { time.Sleep(300 * time.Millisecond) }},
		"spin": {Running, func() {
			for !stop.Load() {
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			ids := make(chan uintptr)
			go func() {
				ids <- ID()
				c.do()
			}()
			id := <-ids
			if runtime.GOMAXPROCS(0) == 1 && c.want == Running {
				c.want = Runnable // the test itself has the only P
			}
			if !sees(id, c.want) {
				t.Errorf("status %d; want %d", StatusOf(id), c.want)
			}
			if c.want != Waiting {
				for range 10_000 {
					if s := StatusOf(id); s == Waiting || s == Syscall {
						t.Fatalf("a goroutine that spins has the status %d", s)
					}
				}
				stop.Store(true)
			}
		})
	}
	mu.Unlock()
	close(release)
}

// TestWrongOffsetIsNotProved checks that without a proof every goroutine is Unknown: a wrong offset
// must not pass for the right one.
func TestWrongOffsetIsNotProved(t *testing.T) {
	learned(t)
	right := statusAt.Load()
	defer statusAt.Store(right)
	for at := uintptr(4); at < reach; at += 4 {
		if at == right {
			continue
		}
		if statusAt.Store(at); StatusOf(ID()) == Running && provedParked() {
			t.Errorf("the offset %d passes; only %d should", at, right)
		}
	}
}

// TestStatusOnOneP repeats the tests in a process with one P and, if the toolchain supports it,
// with the race detector's pointer checks.
func TestStatusOnOneP(t *testing.T) {
	if os.Getenv("GOMAXPROCS") == "1" {
		t.Skip("this is the process with one P")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestStatusOf$")
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func BenchmarkStatusOf(b *testing.B) {
	learned(b)
	ids, release := make(chan uintptr), make(chan struct{})
	go func() {
		ids <- ID()
		<-release
	}()
	defer close(release)
	id := <-ids
	for b.Loop() {
		StatusOf(id)
	}
}

func BenchmarkLearn(b *testing.B) {
	for b.Loop() {
		idOffsets()
		proved()
	}
}

// TestProofsYieldSeldom checks that on one P the proofs delay other goroutines only briefly: while
// goroutines yield to each other there, nothing polls the network.
func TestProofsYieldSeldom(t *testing.T) {
	learned(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var stop atomic.Bool
	turns := make(chan int)
	go func() {
		n := 0
		for ; !stop.Load(); n++ {
			runtime.Gosched()
		}
		turns <- n
	}()
	ok := provedSpinning()
	stop.Store(true)
	if n := <-turns; !ok || n > 2*fewLooks+100 {
		t.Errorf("proved: %v, after %d turns of another goroutine; want about %d", ok, n, fewLooks)
	}
}
