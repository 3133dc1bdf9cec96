package goroutine

import (
	"runtime"
	"slices"
	"sync/atomic"
)

// leavesAt is the offset of the byte in which a goroutine's record counts how often the goroutine
// has stopped running (runtime/runtime2.go, trackingSeq); 0: not known.
var leavesAt atomic.Uintptr

// Leaves returns a number that changes each time the calling goroutine stops running: when it
// waits, and when it yields its P or loses it. A system call changes the number only if the
// goroutine loses its P there. After 256 times the number is the same again. It is not ok if Learn
// has not found it. Leaves costs about 4 ns (BenchmarkLeaves), a tenth of two readings of the clock.
func Leaves() (n uint8, ok bool) { return LeavesOf(ID()) }

// LeavesOf is Leaves for another goroutine, given its identity.
func LeavesOf(id uintptr) (n uint8, ok bool) {
	at := leavesAt.Load()
	if at == 0 || id == 0 {
		return 0, false
	}
	return byteAt(id + at), true
}

func byteAt(addr uintptr) uint8 { return uint8(load32(addr&^3) >> (8 * (addr & 3))) }

// learnLeaves finds the only byte that several goroutines in turn increase by one each time they
// yield, and that a goroutine changes when it waits.
func learnLeaves() {
	const samples, tries = 3, 20
	var found uintptr
	for agree, try := 0, 0; agree < samples; try++ {
		offsets := make(chan []uintptr)
		go func() { offsets <- counters() }()
		switch fit := <-offsets; {
		case len(fit) == 1 && (agree == 0 || fit[0] == found):
			found = fit[0]
			agree++
		case len(fit) > 0 || try == tries: // none fits if the goroutine has lost its P meanwhile
			return
		}
	}
	leavesAt.Store(found)
	if !provedLeaves() {
		leavesAt.Store(0)
	}
}

// counters returns the offsets of the bytes in the calling goroutine's record that grow by one each
// time the goroutine yields.
func counters() (offsets []uintptr) {
	id := ID()
	for at := uintptr(8); at < reach; at++ {
		offsets = append(offsets, at)
	}
	var before [reach]uint8
	for _, times := range []uint8{1, 3, 0, 2} {
		for _, at := range offsets {
			before[at] = byteAt(id + at)
		}
		for range times {
			runtime.Gosched()
		}
		offsets = slices.DeleteFunc(offsets, func(at uintptr) bool { return byteAt(id+at)-before[at] != times })
	}
	return offsets
}

// provedLeaves examines a goroutine that waits for a channel.
func provedLeaves() bool {
	ids, c, changed := make(chan uintptr), make(chan struct{}), make(chan bool)
	go func() {
		ids <- ID()
		before, _ := Leaves()
		<-c
		after, _ := Leaves()
		changed <- after != before
	}()
	sees(<-ids, Waiting)
	c <- struct{}{}
	return <-changed
}
