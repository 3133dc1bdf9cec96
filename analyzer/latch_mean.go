package analyzer

import (
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// longOutage is the least window of a quantile for which a server that refuses everything has a
// warning.
const longOutage = time.Second

// lasting warns of a throw that refuses all tasks of a name while a mean of their class is high: a
// mean follows tasks that have been let in, and does not fall without them. It warns of one that
// refuses all tasks while a quantile of the time in the queue is high, too: without tasks the
// quantile stays until the window has passed, long after the queue is empty. A quantile of the
// running time may be a breaker, which is meant to stay open for a while.
func (a *analysis) lasting() (all []Warning) {
	if a.p.On != stubs.Enqueue || a.p.AsksRunning() {
		return nil
	}
	some := len(a.declared.Tasks)+len(a.declared.Except)+len(a.declared.Kinds) > 0
	for _, r := range a.p.Reads {
		waits := (r.Stub == stubs.ClassWait || r.Stub == stubs.QueueWait && !some) && r.Window >= longOutage
		if r.Stub != stubs.ClassRunningMean && r.Stub != stubs.ClassWaitedMean && !waits {
			continue
		}
		b := newAnalysis(a.p, 0)
		b.facts.learn(b.facts.read(r), intValue(r.Type, exactly(later)))
		b.statement(b.p.Root)
		if reaches(b.reached, stubs.Continue) || !reaches(a.reached, stubs.Continue) {
			continue
		}
		b.p.Root.Any(func(n *ir.Node) bool {
			switch {
			case !throws(n) || !b.reached[n]:
			case waits:
				whom := "all tasks of a name"
				if r.Stub == stubs.QueueWait {
					whom = "all tasks"
				}
				all = append(all, Warning{a.p.Errorf(n, "compare queue.oldest or queue.cost, which fall with the queue; or write ... and queue.length > loop.slots",
					"%s refuses %s while %v is high, which it is for %v after the last long wait, even if no task waits any more", a.text(n), whom, r, r.Window)})
			default:
				all = append(all, Warning{a.p.Errorf(n, "let a share in, as in not chance(0.05); or compare "+instead(r.Stub),
					"%s refuses all tasks of a name while their %v is high, and only tasks that have been let in lower it", a.text(n), r)})
			}
			return len(all) > 0
		})
	}
	return all[:min(1, len(all))]
}

// instead says what to compare in place of a mean.
func instead(id stubs.ID) string {
	if id == stubs.ClassWaitedMean {
		return "queue.oldest, which falls with the queue"
	}
	return "class.service(0.5), which forgets"
}
