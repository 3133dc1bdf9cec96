package cocoon

import (
	"time"

	"github.com/cocoon-go/cocoon/internal/kernel"
)

// saturation finds out whether short work keeps all Ps of the process busy, next to tasks that run
// long. Then heat is no help. Its spare Ps are for the network poller and the timer, but the short
// work takes them, too: threads switch instead of goroutines, sysmon retakes the timer's P all the
// time, and each breath hands the core to another process. A mixed server on two cores, with one
// long report at a time, used 1.2 times the processor time of plain Go, and its short requests took
// 1.6 to 2.6 times as long (bench: mixed). Without heat, both are as in plain Go.
//
// Short work is the number of goroutines that want a P, less the tasks that run long, or less the
// goroutines that always want one (sharers), which may be no tasks. If such goroutines occupy the
// spare Ps, too, heat is no help either, so no more of them are subtracted. The number changes fast,
// so saturation goes by its mean over about saturationSpan. saturation is pure, and only the timer's
// thread uses it.
type saturation struct {
	at    int64   // when it was last told how many goroutines want a P
	mean  float64 // short work
	full  bool    // short work keeps all Ps busy
	since int64   // when it became full
}

const (
	saturationSpan  = int64(100 * time.Millisecond)
	saturationEvery = int64(10 * time.Millisecond)

	// burst is how much short work counts at most, for each P: a burst of requests that the server
	// handles within 20 ms must not end the heat for a second.
	burst = 4
)

// add is told that n goroutines want a P, of which lasting always do, that long tasks run long, and
// that the application has procs Ps. It reports whether short work keeps them busy. If it does, this
// does not change for minStay, and not before the short work has fallen to half of that.
func (s *saturation) add(now, n, lasting, long, procs int64) (full bool) {
	d := min(now-s.at, saturationEvery)
	s.at = now
	lasting = max(long, min(lasting, procs+kernel.SparePs-1))
	short := float64(min(max(0, n-lasting), burst*procs))
	s.mean += (short - s.mean) * float64(d) / float64(d+saturationSpan)
	switch {
	case !s.full && s.mean >= float64(procs):
		s.full, s.since = true, now
	case s.full && s.mean < float64(procs)/2 && now-s.since >= minStay:
		s.full = false
	}
	return s.full
}
