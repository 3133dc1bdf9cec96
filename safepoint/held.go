package safepoint

import "sync/atomic"

// Held lists the lines in a file of rewritten code where locks are held. A poll in a function
// called on these lines is not a safe point: a throw might leave the lock locked forever, and a
// suspension would hold up the goroutines that wait for the lock. Only the slow path checks this,
// so the fast path need not count locks.
type Held struct {
	Package string // as in the names of functions
	File    string // without its folder
	Lines   []int  // pairs of a first and a last line
	Next    *Held
}

var held atomic.Pointer[Held]

// holdLink is called by init functions of rewritten packages.
//
//lint:ignore U1000 reached by go:linkname
var holdLink = hold

func hold(pkg, file string, lines []int) {
	h := &Held{Package: pkg, File: file, Lines: lines}
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
