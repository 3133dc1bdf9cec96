package cocoon

import (
	"sync/atomic"
	"time"
)

// logLimit limits log lines to one a second, because a flood of lines is of no use. It uses the
// monotonic clock: with the wall clock it would be silent for as long as that clock was set back.
// It is safe for concurrent use. The zero logLimit allows the next line.
type logLimit struct{ next atomic.Int64 }

// due reports whether a line may be logged now.
func (s *logLimit) due(now int64) bool {
	next := s.next.Load()
	return now >= next && s.next.CompareAndSwap(next, now+int64(time.Second))
}
