package policytest

import (
	"fmt"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// keyIn returns the key of a policy's read or write; nil is the key of a state without keys.
func keyIn(by *ir.KeyOf, snapshot []uint64) uint64 {
	if by == nil {
		return 0
	}
	return by.In(snapshot)
}

// place is where a policy writes: a state, and a key of it.
type place struct {
	*variable
	key uint64
}

// act carries out the effects that a test observes, in the order of the text: all of them or, on an
// error, none. The writes of an observing policy go to the shadows of the states, and nowhere if the
// task is absent.
func (w *world) act(c *compiled, out ir.Outcome, absent bool) error {
	written, order, cancelled := map[place]uint64{}, []place{}, false
	for i, site := range c.program.Sites {
		if out.Fired&(1<<i) == 0 {
			continue
		}
		switch site.Effect {
		case stubs.Set, stubs.Add, stubs.Max, stubs.Min, stubs.Take:
			at := place{w.here(c, site.Name), keyIn(site.By, c.eval.Snapshot())}
			if site.By != nil {
				w.touch(at.variable, at.key)
			}
			was, again := written[at]
			if !again {
				was = at.at(at.key, c.observing(), int64(w.now))
				order = append(order, at)
			}
			word, err := site.Update(was, out.Values[i])
			if err != nil {
				return err
			}
			written[at] = word
		case stubs.Cancel:
			cancelled = true
		case stubs.Call, stubs.Interval, stubs.Rank, stubs.Background:
		default:
			return fmt.Errorf("tests do not know the effect %d", site.Effect)
		}
	}
	if absent {
		order = nil
	}
	for _, at := range order {
		at.put(at.key, written[at], c.observing(), int64(w.now))
	}
	if cancelled {
		w.out[c] = "it has cancelled itself"
	}
	return nil
}

// failed counts an evaluation with an error. Like a server, it switches the policy off after too
// many in a row.
func (w *world) failed(c *compiled) {
	if w.failures[c]++; w.failures[c] >= w.suite.maxFailures {
		w.out[c] = fmt.Sprintf("it was switched off after %d errors in a row", w.failures[c])
	}
}
