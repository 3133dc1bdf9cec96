package guest

import (
	"fmt"
	"sync"
)

// Calls that keep their turn while a host function calls another instance can wait for each other:
// one holds the turn of a and waits for b, another holds b and waits for a. The last one to wait
// finds the cycle and fails. Nothing in a cycle changes while all its calls wait, so the cycle
// exists when the call fails.

// waits guards inner and waitsFor of all activations. It is taken before an instance's lock.
var waits sync.Mutex

// nest records that a is nested in its outer call.
func (a *activation) nest() {
	waits.Lock()
	defer waits.Unlock()
	a.outer.inner = a
}

// unnest records that a has ended.
func (a *activation) unnest() {
	waits.Lock()
	defer waits.Unlock()
	a.outer.inner = nil
}

// waitFor records that a, which is nested in another call, waits for its turn. It returns an error
// if a would wait for a call that waits for it.
func (a *activation) waitFor() error {
	waits.Lock()
	defer waits.Unlock()
	for in, seen := a.in, map[*Instance]bool{}; in != nil && !seen[in]; {
		seen[in] = true // seen twice: in a cycle without a, of which the last call has failed
		h := in.holder()
		if h == nil {
			break
		}
		for o := a.outer; o != nil; o = o.outer {
			if o.keeper() == h {
				return fmt.Errorf("%s waits for a call that waits for its own caller %s; guests that call each other need Config.Threads",
					about(a.function.task), o.function.task)
			}
		}
		for h.inner != nil {
			h = h.inner
		}
		in = h.waitsFor
	}
	a.waitsFor = a.in
	return nil
}

// waitedFor records that a waits no more.
func (a *activation) waitedFor() {
	waits.Lock()
	defer waits.Unlock()
	a.waitsFor = nil
}

// holder returns the call that has the turn, or nil.
func (in *Instance) holder() *activation {
	in.lock()
	defer in.unlock()
	return in.turns.holder
}
