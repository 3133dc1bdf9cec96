package cocoon

import (
	"time"

	"github.com/cocoon-go/cocoon/internal/kernel"
)

// saturation finds out whether short work keeps all Ps of the process busy while long work leaves
// some of them to it. Then heat is no help. Its spare Ps are for the network poller and the timer,
// but the short work takes them, too: threads switch instead of goroutines, sysmon retakes the
// timer's P all the time, and each breath hands the core to another process. A server of many kinds
// of handlers on two cores, with one long report at a time, used 1.2 times the processor time of
// plain Go, and its short requests took 1.6 to 2.5 times as long. Without heat it used as much as
// plain Go, and they took 1.0 to 1.4 times as long.
//
// If long work takes all Ps, heat is a help, however much short work there is: while scans keep the
// only core busy, 3000 gets a second took 4 to 10 ms at p99 with heat, and 44 to 537 ms without.
//
// Short work is the number of goroutines that want a P, less the tasks that run long, or less the
// goroutines that always want one (sharers), which may be no tasks. If such goroutines occupy the
// spare Ps, too, heat is no help either, so no more of them are subtracted. Both kinds of work
// change fast, so saturation goes by their means over about saturationSpan. saturation is pure, and
// only the timer's thread uses it.
type saturation struct {
	at    int64   // of the last demand
	short float64 // short work
	taken float64 // Ps that long work would take
	want  float64 // goroutines that want a P
	tasks float64 // of these, holders of slots and extra tasks
	full  bool    // short work keeps all Ps busy
	since int64   // when it became full
}

// demand is the work for the process's Ps at a moment.
type demand struct {
	wanting int64 // goroutines that have a P or are ready for one
	lasting int64 // of these, how many always are
	tasks   int64 // of these, how many are holders of slots and extra tasks
	long    int64 // tasks that run long, or are suspended
	procs   int64 // the application's Ps
}

const (
	saturationSpan  = int64(100 * time.Millisecond)
	saturationEvery = int64(10 * time.Millisecond)

	// forgotten is how long what was found counts, if there is no demand meanwhile.
	forgotten = int64(5 * time.Second)

	// burst is how much short work counts at most, for each P: a burst of requests that the server
	// handles within 20 ms must not end the heat for a second.
	burst = 4
)

// add is told the present demand, and reports whether the process is saturated. If it is, this does
// not change for minStay.
func (s *saturation) add(now int64, d demand) (full bool) {
	procs := float64(d.procs)
	if s.at == 0 || now-s.at > forgotten {
		*s = saturation{taken: procs} // a need has just shown that there is long work
	}
	span := min(now-s.at, saturationEvery)
	s.at = now
	weight := float64(span) / float64(span+saturationSpan)
	lasting := max(d.long, min(d.lasting, d.procs+kernel.SparePs-1))
	s.short += (float64(min(max(0, d.wanting-lasting), burst*d.procs)) - s.short) * weight
	s.taken += (float64(min(d.long, d.procs)) - s.taken) * weight
	s.want += (float64(d.wanting) - s.want) * weight
	s.tasks += (float64(min(d.tasks, d.wanting)) - s.tasks) * weight
	leaves := s.taken < 0.75*procs
	switch {
	case !s.full && leaves && s.short >= procs:
		s.full, s.since = true, now
	case s.full && (!leaves || s.short < procs/2) && now-s.since >= minStay:
		s.full = false
	}
	return s.full
}

// others returns the share of goroutines that are neither holders of slots nor extra tasks in the
// work for Ps, in percent.
func (s *saturation) others() int64 {
	if s.want <= 0 {
		return 0
	}
	return int64(100 * (1 - s.tasks/s.want))
}
