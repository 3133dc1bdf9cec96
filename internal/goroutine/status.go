package goroutine

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Status is the activity of a goroutine, according to the Go runtime's record of it.
type Status uint8

const (
	// The record can't be read on this platform, or the goroutine is between two states.
	Unknown  Status = iota
	Runnable        // waits for a P, which was taken from it
	Ready           // waits for a P, and waited, was in a system call or gave its P away with a lock
	Running         // runs Go code
	Syscall         // in a system call, or in C
	Waiting         // waits for a channel, a lock, a timer or the network
)

// The values of atomicstatus in the runtime's record of a goroutine (runtime/runtime2.go,
// _Grunnable and the following). Learn checks them against goroutines with a known status.
const (
	gRunnable  = 1
	gRunning   = 2
	gSyscall   = 3
	gWaiting   = 4
	gCopystack = 8
	gPreempted = 9
)

// statusAt is the offset of atomicstatus in the runtime's record; 0 until Learn has verified it.
var statusAt atomic.Uintptr

// StatusOf returns the status of the living goroutine with the given ID. The value may be outdated
// on return, so it is only a hint. A goroutine is Unknown while the garbage collector scans its
// stack or has stopped it. Until Learn has succeeded, every goroutine is Unknown. If Learn has not
// found where goroutines continue, none is Ready, and Runnable includes them.
//
// StatusOf is one load, which the race detector does not see: the runtime changes the word by
// atomic operations. It costs about 2 ns, and a cache miss (BenchmarkStatusOf).
func StatusOf(id uintptr) Status {
	at := statusAt.Load()
	if at == 0 || id == 0 {
		return Unknown
	}
	switch load32(id + at) { // with the scan bit set, it is none of these
	case gRunnable:
		if hasWaited(id) {
			return Ready
		}
		return Runnable
	case gRunning, gCopystack:
		return Running
	case gSyscall:
		return Syscall
	case gWaiting:
		return Waiting
	}
	return Unknown
}

// CanTell reports whether StatusOf returns statuses here, which it does when Learn has succeeded.
func CanTell() bool { return statusAt.Load() != 0 }

// Learn finds the offset of a goroutine's status in the runtime's record, once per process. It
// succeeds only if it reads the right status for goroutines that run, wait or are in a system call;
// otherwise StatusOf keeps returning Unknown, and callers work without it. Learn takes up to 10 ms
// on one P, because the runtime takes that long to notice the system call. It is safe for
// concurrent use; later calls wait for the first.
func Learn() { learn() }

var learn = sync.OnceFunc(func() {
	if !canLoad || runtime.Compiler != "gc" {
		return
	}
	for _, at := range idOffsets() {
		// In every release since Go 1.4 the status precedes the number, with one more 32-bit word
		// in between.
		statusAt.Store(at - 8)
		if proved() {
			learnWait()
			learnLeaves()
			return
		}
	}
	statusAt.Store(0)
})

// reach is how many bytes of a record are searched for the goroutine's number. The record is
// larger.
const reach = 320

// idOffsets returns the offsets at which the records of several goroutines hold their own numbers.
func idOffsets() (offsets []uintptr) {
	const samples = 4
	fits := map[uintptr]int{}
	var wg sync.WaitGroup
	for range samples {
		found := make(chan uintptr, reach/8)
		wg.Go(func() {
			defer close(found)
			id, n := ID(), uint64(number())
			for at := uintptr(8); at < reach; at += 8 {
				if load64(id+at) == n {
					found <- at
				}
			}
		})
		for at := range found {
			fits[at]++
		}
	}
	wg.Wait()
	for at := uintptr(8); at < reach; at += 8 {
		if fits[at] == samples {
			offsets = append(offsets, at)
		}
	}
	return offsets
}

// patience is how many times a goroutine is examined until it has the expected status.
const patience = 1 << 20

// fewLooks is how many times a spinning goroutine is examined. It need not be seen running, which
// on one P it never is. While goroutines yield to each other on the only P, nothing polls the
// network: more looks would hold up a server that has just started.
const fewLooks = 100

// sees reports whether the goroutine soon has the wanted status.
func sees(id uintptr, want Status) bool {
	for range patience {
		if StatusOf(id) == want {
			return true
		}
		runtime.Gosched()
	}
	return false
}

// proved reports whether StatusOf returns the right status of goroutines in known states.
func proved() bool {
	return StatusOf(ID()) == Running && provedParked() && provedSpinning() && provedSyscall()
}

func provedParked() bool {
	ids, release := make(chan uintptr), make(chan struct{})
	go func() {
		ids <- ID()
		<-release
	}()
	defer close(release)
	id := <-ids
	if !sees(id, Waiting) {
		return false
	}
	for range 100 { // it keeps that status
		if s := StatusOf(id); s != Waiting && s != Unknown {
			return false
		}
	}
	return true
}

func provedSpinning() bool {
	var stop atomic.Bool
	ids := make(chan uintptr)
	go func() {
		for ids <- ID(); !stop.Load(); {
			runtime.Gosched()
		}
	}()
	defer stop.Store(true)
	id := <-ids
	for range fewLooks {
		if s := StatusOf(id); s != Running && s != Runnable && s != Unknown {
			return false
		}
		runtime.Gosched()
	}
	return true
}
