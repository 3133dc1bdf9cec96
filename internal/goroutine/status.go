package goroutine

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Status is what a goroutine does, as the Go runtime's record of it says.
type Status uint8

const (
	Unknown  Status = iota // the record can't be read here, or the goroutine is between two states
	Runnable               // it waits for a P
	Running                // it runs Go code
	Syscall                // it is in a system call, or in C
	Parked                 // it waits for a channel, a lock, a timer or the network
)

// The values of atomicstatus in the runtime's record of a goroutine (runtime/runtime2.go,
// _Grunnable and the following). Learn checks them against goroutines whose status it knows.
const (
	gRunnable  = 1
	gRunning   = 2
	gSyscall   = 3
	gWaiting   = 4
	gCopystack = 8
	gPreempted = 9
)

// statusAt is the offset of atomicstatus in the runtime's record; 0 until Learn has proved it.
var statusAt atomic.Uintptr

// StatusOf returns the status of the living goroutine with that ID. The value may be outdated when
// it arrives, so it is a hint and nothing more. A goroutine whose stack the collector scans, or
// that the collector has stopped, is Unknown. Until Learn has succeeded every goroutine is.
//
// It is one load, which the race detector does not see: the runtime changes the word by atomic
// operations. Cost: about 2 ns, and a cache miss (BenchmarkStatusOf).
func StatusOf(id uintptr) Status {
	at := statusAt.Load()
	if at == 0 || id == 0 {
		return Unknown
	}
	switch load32(id + at) { // with the scan bit it is none of these
	case gRunnable:
		return Runnable
	case gRunning, gCopystack:
		return Running
	case gSyscall:
		return Syscall
	case gWaiting:
		return Parked
	}
	return Unknown
}

// CanTell reports whether StatusOf tells the status of goroutines here: whether Learn has succeeded.
func CanTell() bool { return statusAt.Load() != 0 }

// Learn finds out where the runtime keeps a goroutine's status, once a process. It succeeds only if
// goroutines that run, that wait and that sit in a system call are seen to do so; otherwise
// StatusOf keeps returning Unknown, and callers do without. It takes up to 10 ms on one P, because
// the runtime takes that long to notice the system call. Safe for concurrent use; later calls wait
// for the first.
func Learn() { learn() }

var learn = sync.OnceFunc(func() {
	if !canLoad || runtime.Compiler != "gc" {
		return
	}
	for _, at := range idOffsets() {
		// In every release since Go 1.4 the status stands in front of the number, with one more
		// word of 32 bits in between.
		statusAt.Store(at - 8)
		if proved() {
			return
		}
	}
	statusAt.Store(0)
})

// reach is how much of a record is searched for the goroutine's number. The record is larger.
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

// patience is how often a goroutine is looked at until it is seen to do what it surely does soon.
const patience = 1 << 20

// fewLooks is how often a goroutine that spins is looked at. It need not be seen running, which on
// one P it never is. While goroutines yield to each other on the only P, nothing polls the network:
// more looks would hold up a server that has just started.
const fewLooks = 100

// sees reports whether the goroutine is seen with the status before long.
func sees(id uintptr, want Status) bool {
	for range patience {
		if StatusOf(id) == want {
			return true
		}
		runtime.Gosched()
	}
	return false
}

// proved reports whether StatusOf tells the truth about goroutines in known states.
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
	if !sees(id, Parked) {
		return false
	}
	for range 100 { // it stays so
		if s := StatusOf(id); s != Parked && s != Unknown {
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
