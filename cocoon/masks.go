package cocoon

import (
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

// maskedStack is a stack, identified by its goroutine.StackSum, and the mask state there.
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

// stackMemory keeps the results of the goroutine's looks at its stack.
type stackMemory struct {
	cgoSeen  int64         // calls of C when the stack was last found free of callbacks
	masked   *maskedStacks // nil before it is first needed: it is large
	busy     bool          // it walks the stack now, or see deafen
	stretch  stretch
	onP      onP
	surveyed surveyed
	lead     int64 // the task's, if it is short: then stretches measure all its running
}

// surveys returns what surveys say, or nil if there is no memory.
func (m *stackMemory) surveys() *surveyed {
	if m == nil {
		return nil
	}
	return &m.surveyed
}

// sawFree reports whether the stack was last found free of callbacks at that number of calls of C.
func (m *stackMemory) sawFree(cgo int64) bool { return m != nil && cgo == m.cgoSeen }

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

// anew is the number of safe points after which the stack is walked nevertheless: a client above
// the frame may have to learn of a throw, see tellClient.
const anew = 1024

// stays reports whether the frame is on the stack.
func (f *maskingFrame) stays() bool {
	f.looked++
	return f.looked%anew != 0 && f.IsHere()
}

func (m *stackMemory) isBusy() bool { return m != nil && m.busy }
