package analyzer

import (
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// lasting warns of a throw that refuses all tasks of a name while a mean of their class is high: a
// mean follows tasks that have been let in, and does not fall without them.
func (a *analysis) lasting() (all []Warning) {
	if a.p.On != stubs.Enqueue || a.p.AsksRunning() {
		return nil
	}
	for _, r := range a.p.Reads {
		if r.Stub != stubs.ClassRunningMean && r.Stub != stubs.ClassWaitedMean {
			continue
		}
		b := newAnalysis(a.p, 0)
		b.facts.learn(b.facts.read(r), intValue(r.Type, exactly(later)))
		b.statement(b.p.Root)
		if reaches(b.reached, stubs.Continue) || !reaches(a.reached, stubs.Continue) {
			continue
		}
		b.p.Root.Any(func(n *ir.Node) bool {
			if throws(n) && b.reached[n] {
				all = append(all, Warning{a.p.Errorf(n, "let a share in, as in not chance(0.05); or compare "+quantileFor(r.Stub)+", which forgets",
					"%s refuses all tasks of a name while their %v is high, and only tasks that have been let in lower it", a.text(n), r)})
			}
			return len(all) > 0
		})
	}
	return all[:min(1, len(all))]
}

// quantileFor returns the quantile that stands for a mean.
func quantileFor(id stubs.ID) string {
	if id == stubs.ClassWaitedMean {
		return "class.wait(0.5)"
	}
	return "class.service(0.5)"
}
