package cocoon

import (
	"runtime"
	"slices"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/keep"
)

// maskedStacks are the stacks at which the current request was masked most recently. The same stack
// has the same outcome. So a poll under a lock costs about 0.1 µs instead of a walk: code under a
// lock may poll every microsecond, and would otherwise hold the lock several times as long.
type maskedStacks struct {
	on   maskedOn
	last [16]maskedStack
	next int
	by   maskingFrame
}

// maskedStack is a stack, identified by its goroutine.StackSum, and the outlook there.
type maskedStack struct {
	sum              uint64
	masked, cleansUp bool
}

// maskedOn contains the other inputs of the outcome.
type maskedOn struct {
	throwAt  int64
	sections uint64 // see sectionStack.change
	throwTo  uint64
	lines    *lines
	kept     *keep.Set
	waited   bool // see throwRequest.waited
}

// about forgets the stacks if the outcome may have changed.
func (m *maskedStacks) about(p *throwRequest, st *sectionStack, lines *lines, kept *keep.Set) {
	on := maskedOn{sections: st.change.Load(), lines: lines, kept: kept, waited: p.waited()}
	if p != nil {
		on.throwAt, on.throwTo = p.at, p.section
	}
	if m.on != on {
		*m = maskedStacks{on: on}
	}
}

func (m *maskedStacks) find(sum uint64) (at maskedStack, ok bool) {
	for _, at := range m.last {
		if at.sum == sum {
			return at, true
		}
	}
	return at, false
}

func (m *maskedStacks) add(at maskedStack) {
	m.last[m.next%len(m.last)] = at
	m.next++
}

// maskingFrame is the frame that masked the last masked stack of the current request. While it is
// on the stack, each safe point above it is masked as well, unless a section has begun or ended,
// and then about forgets the frame. A walk over a B-tree under a lock polls with thousands of
// stacks, and all of them have the frame that holds the lock.
type maskingFrame struct {
	goroutine.Frame
	masks  bool // false: the frame only keeps throws away
	looked int
}

// anew is after how many safe points the stack is walked nevertheless: a client above the frame may
// have to be told of a throw, see tellDriver.
const anew = 1024

// stays reports whether the frame is on the stack.
func (f *maskingFrame) stays() bool {
	f.looked++
	return f.looked%anew != 0 && f.IsHere()
}

// masking returns the frame that masked the safe point, and whether it does so for all requests.
func (w *walk) masking(p *throwRequest) (f goroutine.Frame, masks bool) {
	if w.by != "" {
		return w.atFrame, true
	}
	for _, lock := range slices.Backward(w.locks) { // the outermost stays longest
		if p == nil || p.stopsAt(lock) || !p.waited() {
			return lock.frame, true
		}
	}
	return w.cleanupFrame, false
}

// follow finds a frame of the walk among the stack's frames. Functions that were inlined have the
// frame of the function that they were inlined into.
func (w *walk) follow(f runtime.Frame) {
	inlined := w.inlined
	w.inlined = f.Func == nil
	if inlined {
		return
	}
	w.here = goroutine.Frame{}
	for i, at := range w.frames {
		if at.PC() == f.PC {
			w.here, w.frames = at, w.frames[i+1:]
			return
		}
	}
}
