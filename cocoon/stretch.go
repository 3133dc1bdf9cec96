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
	leaves, known := goroutine.Leaves()
	if s.state.CompareAndSwap(stretchLives, noStretch); !known || s.state.Load() != noStretch {
		return
	}
	s.leaves, s.thread, s.from = leaves, kernel.Thread(), now
	used, ok := kernel.ThreadCPU(s.thread)
	if again, _ := goroutine.Leaves(); !ok || again != leaves {
		return
	}
	s.cpu = used
	s.state.Store(stretchLives)
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
// g is not in the stretch any more.
func (s *stretch) look(g uintptr, now int64) (off int64, known bool) {
	if s == nil || !s.state.CompareAndSwap(stretchLives, stretchRead) {
		return 0, false
	}
	off, known = s.read(g, now)
	if !s.state.CompareAndSwap(stretchRead, stretchLives) {
		s.state.Store(noStretch)
	}
	return off, known
}

func (s *stretch) read(g uintptr, now int64) (off int64, known bool) {
	leaves, known := goroutine.LeavesOf(g)
	if !known || leaves != s.leaves || now < s.from {
		return 0, false
	}
	used, ok := kernel.ThreadCPU(s.thread)
	if again, _ := goroutine.LeavesOf(g); !ok || again != leaves {
		return 0, false
	}
	off = max(0, now-s.from-(used-s.cpu))
	s.from, s.cpu = now, used
	return off, true
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
