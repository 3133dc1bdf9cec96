package cocoon

import (
	"sync/atomic"
	"time"
)

// logLimit limits log lines to one a second, because a flood of lines is of no use. It uses the
// monotonic clock: with the wall clock it would be silent for as long as that clock was set back.
// It is safe for concurrent use. The zero logLimit allows the next line.
type logLimit struct{ next atomic.Int64 }

// budget bounds how many decisions of a policy are kept: in a storm the first ones of each tenth of
// a second. Without this bound the stream would keep only the newest ones, for a few milliseconds.
// It is safe for concurrent use, and then inexact.
type budget struct{ window, used atomic.Int64 }

// due reports whether a line may be logged now.
func (s *logLimit) due(now int64) bool {
	next := s.next.Load()
	return now >= next && s.next.CompareAndSwap(next, now+int64(time.Second))
}

const (
	budgetWindow = int64(100 * time.Millisecond)
	mostInWindow = 100
)

// take reports whether the stream keeps another decision.
func (b *budget) take(now int64) bool {
	if window := now / budgetWindow; b.window.Load() != window {
		b.window.Store(window)
		b.used.Store(0)
	}
	return b.used.Add(1) <= mostInWindow
}
