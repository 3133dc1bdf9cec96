package cocoon

import (
	"context"

	"github.com/cocoon-go/cocoon/internal/goroutine"
)

// strandOfGoroutine returns the innermost strand that the calling goroutine runs for, on any loop
// of the process, among the strands that hold a slot or have lent it. It returns nil if there is
// none.
func strandOfGoroutine() *strand { return strandOn(goroutine.ID()) }

// strandOn returns the innermost strand that runs on the goroutine, or nil.
func strandOn(g uintptr) (innermost *strand) {
	// A nested strand got its slot later than the outer one and has run for a shorter time, so its
	// base is later.
	consider := func(s *strand) {
		if s != nil && s.g.Load() == g && (innermost == nil || s.runBase.Load() > innermost.runBase.Load()) {
			innermost = s
		}
	}
	for _, rt := range *runtimes.Load() {
		for _, l := range *rt.loops.Load() {
			for i := range l.slots {
				if c := l.slots[i].holder.Load(); c != nil {
					consider(c.strand)
				}
			}
			if l.absent.n.Load() > 0 {
				l.lock()
				for s := l.absent.byG[g]; s != nil; s = s.sameG {
					consider(s)
				}
				l.unlock()
			}
		}
	}
	return innermost
}

// strandOf returns the strand that the calling goroutine runs for, if ctx leads to it: the
// innermost of the strands nested on this goroutine. If a context is passed to another goroutine,
// it leads to no strand there.
func strandOf(ctx context.Context) *strand { return TaskOf(ctx).here() }

// here returns the innermost strand of the calling goroutine, if t is one of its tasks. t may be
// nil.
func (t *Task) here() *strand {
	// A task that has not ended owns its strand, so the strand's goroutine is the task's.
	if t == nil || t.ended() || t.strand.g.Load() != goroutine.ID() {
		return nil
	}
	s := t.strand
	for s.inner != nil {
		s = s.inner
	}
	return s
}
