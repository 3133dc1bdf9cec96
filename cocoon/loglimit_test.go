package cocoon

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A logLimit lets one line per second through, even in the first second of the process, and even if
// several lines come at the same time.
func TestLogLimit(t *testing.T) {
	const second = int64(time.Second)
	var s logLimit
	for i, c := range []struct {
		now  int64
		want bool
	}{{1, true}, {2, false}, {second, false}, {second + 1, true}, {2 * second, false}, {9 * second, true}} {
		if got := s.due(c.now); got != c.want {
			t.Errorf("%d: at %v: %t", i, time.Duration(c.now), got)
		}
	}
	var through atomic.Int32
	var crowd sync.WaitGroup
	for range 100 {
		crowd.Go(func() {
			if s.due(20 * second) {
				through.Add(1)
			}
		})
	}
	if crowd.Wait(); through.Load() != 1 {
		t.Errorf("%d of 100 at once", through.Load())
	}
}
