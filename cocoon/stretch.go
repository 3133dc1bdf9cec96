package cocoon

import (
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/kernel"
)

// stretch is a time in which a task's goroutine runs on one thread without a pause, as far as Go
// knows. The thread's processor time says how much of it the kernel gave to other threads.
//
// The task's goroutine begins and ends it. The timer may read it at any time, under the loop's
// lock; if the goroutine ends it at that moment, the timer does the rest (stretchDropped).
type stretch struct {
	state  atomic.Uint32
	leaves uint8 // goroutine.Leaves at its beginning: if it has changed, nothing is known
	thread int32
	from   int64 // until when it was read
	cpu    int64 // of the thread, then
}

// States of a stretch. Its other fields belong to the goroutine while there is none, and to the
// timer while it reads.
const (
	noStretch uint32 = iota
	stretchLives
	stretchRead    // by the timer
	stretchDropped // by the goroutine, while the timer reads
)

// begin begins a stretch of the calling goroutine at the time now, which was just read.
func (s *stretch) begin(now int64) {
	for range 2 { // the goroutine may lose its P meanwhile
		leaves, known := goroutine.Leaves()
		if s.state.CompareAndSwap(stretchLives, noStretch); !known || s.state.Load() != noStretch {
			return
		}
		s.leaves, s.thread, s.from = leaves, kernel.Thread(), now
		used, ok := kernel.ThreadCPU(s.thread)
		if again, _ := goroutine.Leaves(); ok && again == leaves {
			s.cpu = used
			s.state.Store(stretchLives)
			return
		}
	}
}

// end ends the stretch of the calling goroutine. It returns for how much of the time until now, which
// was just read, the thread had no processor.
func (s *stretch) end(now int64) (off int64) {
	if !s.state.CompareAndSwap(stretchLives, noStretch) {
		s.state.CompareAndSwap(stretchRead, stretchDropped)
		return 0
	}
	off, _ = s.read(goroutine.ID(), now)
	return off
}

// look is end for the timer, and the stretch continues from there. known is false if the goroutine
// g is not in the stretch any more. If it has left it once, and stopped says that it has not run
// again, off is the least time since sampled that it had no processor. off is nothingKnown if the
// stretch does not tell it.
func (s *stretch) look(g uintptr, sampled, now int64, stopped bool) (off int64, known bool) {
	if s == nil || !s.state.CompareAndSwap(stretchLives, stretchRead) {
		return nothingKnown, false
	}
	off = nothingKnown
	leaves, known := goroutine.LeavesOf(g)
	switch {
	case !known:
	case leaves == s.leaves:
		off, known = s.readThread(g, leaves, s.from, now)
	default:
		if known = false; stopped && leaves == s.leaves+1 {
			if least, ok := s.readThread(g, leaves, max(s.from, sampled), now); ok {
				off = least
			}
		}
	}
	if !s.state.CompareAndSwap(stretchRead, stretchLives) {
		s.state.Store(noStretch)
	}
	return off, known
}

// nothingKnown is less than any time.
const nothingKnown = int64(-1)

func (s *stretch) read(g uintptr, now int64) (off int64, known bool) {
	leaves, known := goroutine.LeavesOf(g)
	if !known || leaves != s.leaves {
		return 0, false
	}
	return s.readThread(g, leaves, s.from, now)
}

// readThread reads the thread's time. It returns for how much of the time since from the thread had
// no processor, at least. It is not ok if the goroutine has stopped running meanwhile.
func (s *stretch) readThread(g uintptr, leaves uint8, from, now int64) (off int64, ok bool) {
	if now < s.from {
		return 0, false
	}
	used, ok := kernel.ThreadCPU(s.thread)
	if again, _ := goroutine.LeavesOf(g); !ok || again != leaves {
		return 0, false
	}
	off = max(0, now-from-(used-s.cpu))
	s.from, s.cpu = now, used
	return off, true
}

// left reports whether the calling goroutine has left its stretch and is on the same thread again.
// If it is on another one, the stretch ends, and nothing is known.
func (s *stretch) left() bool {
	leaves, known := goroutine.Leaves()
	if s.state.Load() == noStretch || !known || leaves == s.leaves {
		return false
	}
	if s.thread == kernel.Thread() {
		return true
	}
	s.state.CompareAndSwap(stretchLives, noStretch)
	return false
}

// back ends a stretch that the calling goroutine has left. off is for how much of the time since
// sampled the thread had no processor, at least.
func (s *stretch) back(sampled, now int64) (off int64, same bool) {
	leaves, _ := goroutine.Leaves()
	if !s.state.CompareAndSwap(stretchLives, noStretch) || s.thread != kernel.Thread() {
		return 0, false
	}
	return s.readThread(goroutine.ID(), leaves, max(s.from, sampled), now)
}

// askAgain is the least time between two times that keeps reports true.
const askAgain = int64(500 * time.Microsecond)

// onP is since when a task's goroutine has had its P without a pause, as far as its safe points
// know. Only the task's goroutine uses it.
type onP struct {
	since, again int64
	leaves       uint8
}

// keeps reports whether the goroutine has kept its P since an earlier safe point, and it is time to
// look at the samples again.
func (p *onP) keeps(now int64) bool {
	leaves, known := goroutine.Leaves()
	if !known || leaves != p.leaves || p.since == 0 {
		*p = onP{now, now, leaves}
		return false
	}
	if now < p.again {
		return false
	}
	p.again = now + askAgain
	return true
}
