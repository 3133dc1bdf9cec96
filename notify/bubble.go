package notify

import (
	"runtime"
	"sync/atomic"
	"time"
	_ "unsafe" // for go:linkname
)

// A goroutine in a bubble of testing/synctest sees the bubble's time, and what it makes belongs to
// the bubble: goroutines, which the bubble waits for, and channels, which end the process when they
// are used from outside. Cocoon's time is real, and what a runtime is made of may be met inside and
// outside of bubbles; so it has to come from outside.

// nanotime is the monotonic clock, for goroutines in bubbles as well. Its name is one that the
// runtime keeps for others.
//
//go:linkname nanotime runtime.nanotime
func nanotime() int64

// realBase is what base is on the clock of nanotime.
var realBase = nanotime() - int64(time.Since(base))

// plausible is longer than any process lives. In a bubble time.Since(base) is decades, or less than
// nothing: the bubble's time begins with the year 2000, and is not monotonic.
const plausible = uint64(1) << 58

// Clock returns Now, and whether the calling goroutine is in a bubble of testing/synctest. It costs
// as much as Now.
func Clock() (now int64, bubbled bool) {
	if d := int64(time.Since(base)); uint64(d) < plausible {
		return d, false
	}
	return nanotime() - realBase, true
}

// Bubbled reports whether the calling goroutine is in a bubble of testing/synctest.
func Bubbled() bool {
	_, bubbled := Clock()
	return bubbled
}

// Outside calls f outside of any bubble, and returns when it has ended: on the calling goroutine if
// that is in none, else on another, to which Go offers one way: cleanups run outside of bubbles
// (package testing/synctest). That takes a collection of garbage, a millisecond or more, in tests
// only. f must not panic.
func Outside(f func()) {
	if !Bubbled() {
		f()
		return
	}
	done := new(atomic.Bool)
	leave(func() {
		f()
		done.Store(true)
	})
	for !done.Load() {
		runtime.GC()
		for range 100 {
			runtime.Gosched() // to sleep would take the bubble's time
		}
	}
}

// leave has f called by the cleanup of an object that is garbage at once. The cleanup's own
// goroutine serves others too, so f gets another.
//
//go:noinline
func leave(f func()) {
	type object struct{ _ *object } // with a pointer: it shares its memory with no other
	runtime.AddCleanup(new(object), func(f func()) { go f() }, f)
}
