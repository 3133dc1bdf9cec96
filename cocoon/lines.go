package cocoon

import (
	"path/filepath"
	"runtime"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/safepoint"
)

// lines holds the line tables of rewritten code, by package and file.
type lines struct {
	last *safepoint.Held // the newest table in the map
	in   map[[2]string][]*safepoint.Held
}

var knownLines atomic.Pointer[lines]

// heldLines returns the line tables of rewritten code, or nil if there is none.
func heldLines() *lines {
	all, known := safepoint.AllHeld(), knownLines.Load()
	if all == nil || known != nil && known.last == all {
		return known
	}
	known = &lines{last: all, in: map[[2]string][]*safepoint.Held{}}
	for h := all; h != nil; h = h.Next {
		at := [2]string{h.Package, h.File}
		known.in[at] = append(known.in[at], h)
	}
	knownLines.Store(known)
	return known
}

// of returns the tables of a frame's file.
func (l *lines) of(f runtime.Frame) []*safepoint.Held {
	if l == nil {
		return nil
	}
	return l.in[[2]string{packageOf(f.Function), filepath.Base(f.File)}]
}

// heldLock is a lock that a frame holds.
type heldLock struct {
	at    runtime.Frame
	frame goroutine.Frame
	name  string // the lock's expression
	how   int    // how the lock is released: safepoint.ByItself and the following constants
}

// lockIn returns the lock that the frame holds, if it holds one.
func (l *lines) lockIn(f runtime.Frame) (lock heldLock, ok bool) {
	for _, h := range l.of(f) {
		if i, ok := stretchOf(h.Lines, 3, f.Line); ok {
			return heldLock{at: f, name: h.Locks[i], how: h.Lines[3*i+2]}, true
		}
	}
	return heldLock{}, false
}

// endsIn reports whether the frame is at a line where nothing is thrown.
func (l *lines) endsIn(f runtime.Frame) bool {
	for _, h := range l.of(f) {
		if _, ok := stretchOf(h.Ends, 2, f.Line); ok {
			return true
		}
	}
	return false
}

// isFresh reports whether the frame calls a method on an unshared value.
func (l *lines) isFresh(f runtime.Frame) bool {
	for _, h := range l.of(f) {
		if _, ok := stretchOf(h.Fresh, 2, f.Line); ok {
			return true
		}
	}
	return false
}

// byHandIn reports whether the frame has a resource that it will release by no deferred call.
func (l *lines) byHandIn(f runtime.Frame) bool {
	for _, h := range l.of(f) {
		if _, ok := stretchOf(h.ByHand, 2, f.Line); ok {
			return true
		}
	}
	return false
}

// stretchOf returns the index of the stretch with the line. A stretch has a fixed number of
// elements, and the first two are its first and last line.
func stretchOf(lines []int, numbers, line int) (i int, ok bool) {
	low, high := 0, len(lines)/numbers
	for low < high {
		switch middle := (low + high) / 2; {
		case line < lines[numbers*middle]:
			high = middle
		case line > lines[numbers*middle+1]:
			low = middle + 1
		default:
			return middle, true
		}
	}
	return 0, false
}
