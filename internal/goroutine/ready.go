package goroutine

import (
	"runtime"
	"sync/atomic"
)

// wait identifies the goroutines that are back from a wait. The record of a goroutine holds, at the
// offset at, the place where the goroutine continues. After a wait this place is in runtime.gopark
// or runtime.exitsyscall. A goroutine that unlocks a lock for which another has waited for long
// gives the other its P with the lock, and continues in runtime.semrelease1. A goroutine that has
// lost its P continues elsewhere.
var wait struct {
	at   atomic.Uintptr // 0: not known
	park atomic.Uint64
	exit atomic.Uint64 // 0: none was seen there so far
	hand atomic.Uint64 // likewise
}

// hasWaited reports whether a goroutine that waits for a P waited, was in a system call or gave its
// P away with a lock before. It reports false if that cannot be known. Cost: a load, or about 50 ns
// if its P was taken.
func hasWaited(id uintptr) bool {
	at := wait.at.Load()
	if at == 0 {
		return false
	}
	pc := load64(id + at)
	if pc == wait.park.Load() || pc == wait.exit.Load() || pc == wait.hand.Load() {
		return true
	}
	f := runtime.FuncForPC(uintptr(pc))
	if f == nil {
		return false
	}
	switch f.Name() {
	case "runtime.exitsyscall":
		wait.exit.Store(pc)
	case "runtime.semrelease1", "runtime.goyield": // the second one is inlined
		wait.hand.Store(pc)
	default:
		return false
	}
	return true
}

// learnWait finds at and park in the records of waiting goroutines. It keeps them only if all these
// records agree, and a goroutine that yields its P continues elsewhere.
func learnWait() {
	const samples = 3
	fits, pc := map[uintptr]int{}, uint64(0)
	for range samples {
		id, release := waiting()
		for at := uintptr(8); at < reach; at += 8 {
			v := load64(id + at)
			if f := runtime.FuncForPC(uintptr(v)); f != nil && f.Name() == "runtime.gopark" && (pc == 0 || v == pc) {
				pc = v
				fits[at]++
			}
		}
		release()
	}
	if len(fits) != 1 {
		return
	}
	for at, n := range fits {
		if n == samples {
			wait.park.Store(pc)
			wait.at.Store(at)
		}
	}
	if !provedYielding() {
		wait.at.Store(0)
	}
}

// waiting returns a goroutine that waits for a channel until release is called.
func waiting() (id uintptr, release func()) {
	ids, c := make(chan uintptr), make(chan struct{})
	go func() {
		ids <- ID()
		<-c
	}()
	id = <-ids
	sees(id, Waiting)
	return id, func() { close(c) }
}

// provedYielding examines a goroutine that has a P, or waits for one after it has yielded.
func provedYielding() bool {
	var stop atomic.Bool
	ids := make(chan uintptr, 1)
	go func() {
		for ids <- ID(); !stop.Load(); {
			runtime.Gosched()
		}
	}()
	defer stop.Store(true)
	id := <-ids
	runtime.Gosched()
	for range fewLooks {
		if StatusOf(id) == Ready {
			return false
		}
		runtime.Gosched()
	}
	return true
}
