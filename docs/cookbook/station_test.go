package cookbook

import (
	"math/rand/v2"
	"slices"
	"time"
)

// request is a task of a simulated load.
type request struct {
	arrived, cost, ends time.Duration
	level               int
	tenant              string
}

// station is a simulated server: slots, and a queue in order of arrival.
type station struct {
	slots      int
	now        time.Duration
	wait, busy []*request

	admit func(*request) bool // on arrival; the request counts as one that waits already
	next  func() *request     // a slot is free: takes the next one by pop or take, or nil; by default pop
	end   func(*request)      // at the end; the request is busy still
}

// work lets the requests arrive, and ends when all have ended.
func (s *station) work(arrivals []*request) {
	for _, r := range arrivals {
		s.until(r.arrived)
		s.now = r.arrived
		s.wait = append(s.wait, r)
		if s.admit != nil && !s.admit(r) {
			s.wait = s.wait[:len(s.wait)-1]
		}
		s.fill()
	}
	s.until(1 << 62)
}

// until ends the requests that end by then.
func (s *station) until(then time.Duration) {
	for len(s.busy) > 0 {
		first := slices.MinFunc(s.busy, func(a, b *request) int { return int(a.ends - b.ends) })
		if first.ends > then {
			return
		}
		s.now = first.ends
		if s.end != nil {
			s.end(first)
		}
		s.busy = slices.DeleteFunc(s.busy, func(r *request) bool { return r == first })
		s.fill()
	}
}

// fill gives free slots to waiting requests.
func (s *station) fill() {
	next := s.next
	if next == nil {
		next = s.pop
	}
	for len(s.busy) < s.slots && len(s.wait) > 0 {
		if r := next(); r != nil {
			r.ends = s.now + r.cost
			s.busy = append(s.busy, r)
		}
	}
}

// pop takes the oldest request that waits, or nil.
func (s *station) pop() *request {
	if len(s.wait) == 0 {
		return nil
	}
	r := s.wait[0]
	s.wait = s.wait[1:]
	return r
}

// take takes a request that waits.
func (s *station) take(r *request) {
	s.wait = slices.DeleteFunc(s.wait, func(w *request) bool { return w == r })
}

// load returns count requests: for a tenth of them each, the load of the slots is one of loads in
// turn. Times between arrivals and costs are exponential, with this mean cost.
func load(rnd *rand.Rand, count, slots int, mean time.Duration, loads ...float64) (all []*request) {
	now := time.Duration(0)
	for i := range count {
		share := loads[i*10/count%len(loads)]
		now += time.Duration(rnd.ExpFloat64() * float64(mean) / share / float64(slots))
		all = append(all, &request{arrived: now, cost: 1 + time.Duration(rnd.ExpFloat64()*float64(mean))})
	}
	return all
}
