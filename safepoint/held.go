package safepoint

import "sync/atomic"

// Held describes some lines of a file of rewritten code, for polls in functions that are called on
// these lines. Only the slow path looks at it, so the fast path need not count locks. Lines are
// pairs of a first and a last line, in order and without overlaps.
type Held struct {
	Package string // as in the names of functions
	File    string // without its folder

	// Lines are where locks are held. A poll there is no safe point: unwound, the function might
	// leave the lock locked, and suspended, it would hold up the goroutines that wait for the lock.
	Lines []int

	// Ends are where functions return, and make their deferred calls, and where iterators clean up
	// behind their last element. Nothing is thrown there, for that would be done half.
	Ends []int

	Next *Held
}

var held atomic.Pointer[Held]

// holdLink is called by init functions of rewritten packages.
//
//lint:ignore U1000 reached by go:linkname
var holdLink = hold

func hold(pkg, file string, lines, ends []int) {
	h := &Held{Package: pkg, File: file, Lines: lines, Ends: ends}
	for {
		h.Next = held.Load()
		if held.CompareAndSwap(h.Next, h) {
			return
		}
	}
}

// AllHeld returns a list of the locked lines of all rewritten files that have been initialised, or
// nil. It is safe for concurrent use, and its elements do not change.
func AllHeld() *Held { return held.Load() }
