package safepoint

import "sync/atomic"

// Held describes some lines of a file of rewritten code, for polls in functions that are called on
// these lines. Only the slow path looks at it, so the fast path need not count locks. Lines are in
// order and without overlaps.
type Held struct {
	Package string // as in the names of functions
	File    string // without its folder

	// Lines are the lines on which locks are held: triples of a first line, a last line, and how
	// the lock is released (ByItself and the following constants). A task is not suspended there,
	// because it would hold up the goroutines that wait for the lock.
	Lines []int
	Locks []string // the expressions of the locks, for each triple of Lines

	// Ends are the lines on which functions return and make their deferred calls, on which
	// iterators clean up after their last element, and on which a function has released a lock that
	// will be released again. Nothing is thrown there. Ends are pairs of a first and a last line.
	Ends []int

	// Fresh are lines with one call: a method call on a value that the function has created and not
	// shared. They are pairs like Ends.
	Fresh []int

	// ByHand are the lines on which a function has a resource that it will release by no deferred
	// call. A throw waits there for a while. They are pairs like Ends.
	ByHand []int

	Next *Held
}

// How a lock is released.
const (
	ByItself = iota // not released when the function is unwound: nothing is thrown there
	ByDefer         // by a deferred call
	// by a deferred call, and the lock is lost with the receiver, if the caller's line is in Fresh
	InReceiver
	Unharmed // by a deferred call, and the guarded data is only read
)

var held atomic.Pointer[Held]

// lockedLink is called by init functions of rewritten packages.
//
//lint:ignore U1000 reached by go:linkname
var lockedLink = hold

func hold(pkg, file string, lines []int, locks []string, ends, fresh []int) {
	add(&Held{Package: pkg, File: file, Lines: lines, Locks: locks, Ends: ends, Fresh: fresh})
}

// byHandLink is called by init functions of rewritten packages.
//
//lint:ignore U1000 reached by go:linkname
var byHandLink = byHand

func byHand(pkg, file string, lines []int) { add(&Held{Package: pkg, File: file, ByHand: lines}) }

func add(h *Held) {
	for {
		h.Next = held.Load()
		if held.CompareAndSwap(h.Next, h) {
			return
		}
	}
}

// AllHeld returns a list of the tables of all rewritten files that have been initialised, or nil.
// It is safe for concurrent use, and its elements do not change.
func AllHeld() *Held { return held.Load() }
