package safepoint

import "sync/atomic"

// Held tells where in a file of rewritten code locks are held. A poll in a function that is called
// there is no safe point: unwound, it might leave the lock locked for ever, and suspended, it would
// hold up who waits for the lock. Only the slow path looks, and so the fast one need not count
// locks.
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

// AllHeld returns a list of where locks are held in all rewritten files that have been initialised,
// or nil. It is safe for concurrent use, and its elements do not change.
func AllHeld() *Held { return held.Load() }
