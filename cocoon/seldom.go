package cocoon

import (
	"sync/atomic"
	"time"
)

// seldom lets one of many log lines through, each second: a log that floods helps nobody. It goes
// by the monotonic clock: by the wall clock it would be silent for as long as that is put back.
// Safe for concurrent use; the zero seldom lets the next one through.
type seldom struct{ next atomic.Int64 }

// due reports whether a line may be logged now.
func (s *seldom) due(now int64) bool {
	next := s.next.Load()
	return now >= next && s.next.CompareAndSwap(next, now+int64(time.Second))
}
