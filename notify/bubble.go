package notify

import (
	"runtime"
	"sync/atomic"
	"time"
	_ "unsafe" // for go:linkname
)

// A goroutine in a bubble of testing/synctest sees the bubble's time, and its new goroutines and
// channels belong to the bubble: the bubble waits for its goroutines, and using its channels from
// outside ends the process. Cocoon's time is real, and the parts of a runtime may be used inside
// and outside bubbles; so a runtime must be created outside.

// nanotime is the monotonic clock, for goroutines in bubbles as well. The Go runtime keeps this
// name stable for linkname users.
//
//go:linkname nanotime runtime.nanotime
func nanotime() int64

// realBase is base on the clock of nanotime.
var realBase = nanotime() - int64(time.Since(base))

// plausible is longer than the life of any process. In a bubble time.Since(base) is decades, or
// negative: the bubble's time begins with the year 2000, and is not monotonic.
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

// Outside calls f outside any bubble, and returns when f has returned. It calls f on the calling
// goroutine, or, if this is in a bubble, on a different one. Go offers one way to get a goroutine
// outside the bubble: cleanups run outside bubbles (package testing/synctest). That takes a garbage
// collection, a millisecond or more, in tests only. f must not panic.
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
			runtime.Gosched() // sleeping would advance the bubble's time
		}
	}
}

// leave makes an object that becomes garbage at once, and lets its cleanup call f. The cleanup's
// goroutine also runs other cleanups, so f gets a separate goroutine.
//
//go:noinline
func leave(f func()) {
	type object struct{ _ *object } // the pointer keeps it from sharing memory
	runtime.AddCleanup(new(object), func(f func()) { go f() }, f)
}
