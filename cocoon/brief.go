package cocoon

import (
	"context"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/cocoon-go/cocoon/notify"
)

func init() { inside.BeginBrief, inside.OnThrow = beginBrief, onThrow }

// Brief calls. A write to a socket may wait as long as the client likes, but nearly always there is
// room. On a busy server a task that gave its slot up for each write would change places with
// another every 2 KiB. So a task in a brief call rests (rest.go), but keeps its slot also while
// other tasks wait. Its slot is taken
//
//   - when the goroutine is found parked: by a task that needs a slot, or by the timer, which looks
//     while a task waits for a slot (parked.go);
//   - by all who take the slots of tasks that rest in order to see each task, such as time policies.
//
// A task gives its slot up before a brief call, like before any other Block,
//
//   - in the next slowCalls calls after one that was found parked: the client is slow, and the
//     search would cost the other tasks more than the change of places;
//   - when other tasks have waited for maxKeep: a handler that computes what it writes would
//     otherwise hold them up for as long as it likes, as it does not in plain Go.
const (
	slowCalls = 32
	maxKeep   = int64(time.Millisecond)
)

// briefCall is a strand inside a brief call.
type briefCall strand

// End implements inside.Call.
func (c *briefCall) End() { (*strand)(c).endAway() }

func beginBrief(ctx context.Context) (inside.Call, error) {
	s := strandOf(ctx)
	if s == nil || s.blocked {
		return nil, nil
	}
	if err := s.mayCall(ctx); err != nil {
		return nil, err
	}
	switch now := notify.Now(); {
	case s.aside():
		s.beginAside()
	case s.keepsSlot(now):
		s.blocked = true
		set(&s.brief, true)
		s.rest.Add(-now)
	default:
		s.beginRest()
	}
	return (*briefCall)(s), nil
}

// keepsSlot reports whether the task may keep its slot in a brief call while other tasks wait. A
// loop that lends no slots would not find it parked.
func (s *strand) keepsSlot(now int64) bool {
	switch wanted := s.loop.wanted.Load(); {
	case s.slow.Load() > 0:
		s.slow.Add(-1)
		return false
	case !wanted:
		s.keptFrom = 0
	case s.keptFrom == 0:
		s.keptFrom = now
	case now-s.keptFrom > maxKeep:
		s.keptFrom = 0
		return false
	}
	return s.mayRest() && s.loop.lends() && goroutine.CanTell()
}

// inBrief reports whether the task is in a brief call now. Called under the loop's lock.
func (s *strand) inBrief() bool { return s.brief.Load() && s.rest.Load() < 0 }

// waitsInCall reports whether a call of the task is found waiting. Called under the loop's lock.
func (s *strand) waitsInCall() bool { return goroutine.StatusOf(s.g.Load()) == goroutine.Parked }
