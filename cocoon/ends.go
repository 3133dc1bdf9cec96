package cocoon

import "sync/atomic"

// ends counts the ends of tasks' contexts in the process: the tasks of one runtime may have
// children on another.
var ends endCount

// endCount tells whether a context of a task has ended since an earlier search for one
// (Task.searchAbove). Without it, each start in a chain of live tasks would look at the whole
// chain. The lower half counts the ends that have begun and not happened yet, the upper half the
// ends that have happened.
//
// The end of a context does not count if the caller of Run or Go has ended the context, because
// every task that has it asks the context itself; nor if the task has ended with all its children,
// except for a child that begins at that moment.
type endCount struct{ n atomic.Uint64 }

// endsSoFar is a reading of ends.
type endsSoFar uint64

// fewAbove is after how many tasks a search notes its result. Most tasks have fewer above them.
const fewAbove = 4

func (e *endCount) Load() endsSoFar { return endsSoFar(e.n.Load()) }

func (e *endCount) begin() { e.n.Add(1) }

func (e *endCount) end() { e.n.Add(1<<32 - 1) }

func (e *endCount) happened() { e.n.Add(1 << 32) }

// idle reports whether no context was about to end. While one is, the result of a search may be
// outdated before the end is counted.
func (n endsSoFar) idle() bool { return uint32(n) == 0 }

// cleared is the mark of a task above which a search found no end: not zero.
func (n endsSoFar) cleared() uint64 { return uint64(n) + 1 }
