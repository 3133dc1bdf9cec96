package cocoon

import (
	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/inside"
)

// Brief calls. A write to a socket may wait, because the client decides how fast it reads. But
// nearly always the socket has room. If a task gave its slot up for each write, it would change
// places with another task every 2 KiB on a busy server. So a task in a brief call rests (rest.go),
// and keeps its slot even while other tasks wait. It loses the slot
//
//   - when its goroutine is found waiting, or back from a wait and without a P: a task that needs a
//     slot looks, and so does the timer while a task waits for a slot (parked.go);
//   - when code that must see each task, such as a time policy, takes the slots of all tasks that
//     rest.
//
// A brief call begins like any other Block, and gives the slot up if another task waits,
//
//   - for the next slowCalls calls after a call was found waiting, unless it was a receive: the
//     client is slow, and the time until the next look would cost the waiting tasks more than the
//     change of places;
//   - when other tasks have waited for maxKeep. Otherwise a handler that computes what it writes
//     could delay short requests for as long as it runs.
//
// A call that runs code of the program, such as a guest's write to an io.Writer, may compute as long
// as it likes. If a time policy may act on the task, such a call counts as running, unless looks
// find it waiting: otherwise a guest could escape its limit by doing its work in such calls. Where
// no slots are lent it is a Block, because the looks would not find it.
const (
	slowCalls = 32
	maxKeep   = 1000 // µs
)

// keepsSlot reports whether the task may keep its slot in a brief call while other tasks wait. It
// may not on a loop that lends no slots, because there the goroutine would not be found waiting.
func (s *strand) keepsSlot(now int64) bool {
	at := max(1, uint32(now/1000))
	switch wanted := s.loop.wanted.Load(); {
	case s.slow.Load() > 0:
		s.slow.Add(-1)
		return false
	case !wanted:
		s.keptFrom = 0
	case s.keptFrom == 0:
		s.keptFrom = at
	case at-s.keptFrom > maxKeep:
		s.keptFrom = 0
		return false
	}
	return s.mayRest() && s.loop.lends() && goroutine.CanTell()
}

// inBrief reports whether the task is in a brief call now. Called under the loop's lock.
func (s *strand) inBrief() bool { return s.brief.Load() != int32(inside.None) && s.rest.Load() < 0 }

// hasWaited reports whether the goroutine of a task in a brief call waits, or has waited and not run
// since. Called under the loop's lock.
func (s *strand) hasWaited() bool {
	status := s.status()
	return status == goroutine.Waiting || status == goroutine.Ready
}

// findsSlow reports whether the task is in a brief call that waits for a slow client. A receive may
// wait because the client has sent everything. Called under the loop's lock.
func (s *strand) findsSlow() bool {
	switch inside.Brief(s.brief.Load()) {
	case inside.Writes, inside.Sends, inside.Works:
		return s.status() == goroutine.Waiting
	}
	return false
}

// mayRest reports whether the task can begin a Block and keep its slot.
func (s *strand) mayRest() bool {
	rt := s.loop.rt
	return !s.lent.Load() && s.requests.Load() == 0 && rt.gaps == nil && rt.tenants.Load() == nil
}
