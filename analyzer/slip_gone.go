package analyzer

import (
	"strings"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// gone warns of an effect that counts tasks which leave the queue in a state whose name says that
// they failed. Their caller is gone, and their function never ran.
func (a *analysis) gone() (all []Warning) {
	if a.p.On&stubs.Leave == 0 || a.p.On&^stubs.Ends != 0 {
		return nil
	}
	b := newAnalysis(a.p, 0) // of a task that leaves: it has not run
	for _, r := range b.p.Reads {
		if r.Stub == stubs.TaskRunning {
			b.facts.learn(b.facts.read(r), intValue(r.Type, exactly(0)))
		}
	}
	b.statement(b.p.Root)
	b.p.Root.Any(func(n *ir.Node) bool {
		if n.Op == ir.OpEffect && len(all) == 0 && b.reached[n] && countsBy(b.p, n) > 0 && saysFailed(b.p.Sites[n.Index].Name) {
			all = []Warning{{a.p.Errorf(n, "evaluate it on exit alone, or give the state another name",
				"%s counts tasks that leave: a task that leaves has not failed, its caller has gone while it waited", a.text(n))}}
		}
		return len(all) > 0
	})
	return all
}

// failure are the words of names of states that count failures.
var failure = map[string]bool{"fail": true, "fails": true, "failed": true, "failure": true, "failures": true, "failing": true,
	"err": true, "errs": true, "error": true, "errors": true, "errored": true}

func saysFailed(name string) bool {
	for word := range strings.FieldsFuncSeq(name, func(c rune) bool { return c == '_' }) {
		if failure[strings.ToLower(word)] {
			return true
		}
	}
	return false
}
