package cocoon

import (
	"context"

	"github.com/cocoon-go/cocoon/internal/goroutine"
)

// Thrown returns the throw that will end the task of ctx, from the decision until the task has
// ended, even while code recovers the throw. It returns nil if there is none, or if a section will
// catch it. It also returns nil on goroutines other than the task's own. Packages that produce a
// task's response, such as cocoonhttp, use it, because a task's results after a throw are not
// reliable. Cost: about 5 ns (BenchmarkCosts) if there is no throw.
func Thrown(ctx context.Context) *PreemptedError {
	t := TaskOf(ctx)
	if t == nil || t.strand.requests.Load()&wantThrow == 0 || t.ended() {
		return nil
	}
	s := t.strand // the task's: this is its goroutine, so it has not ended
	if s.g.Load() != goroutine.ID() {
		return nil
	}
	s.loop.lock()
	defer s.loop.unlock()
	if p := s.pending; p != nil && p.section == 0 {
		return p.err
	}
	return nil
}
