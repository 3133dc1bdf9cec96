package cocoon

import (
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/states"
	"github.com/cocoon-go/cocoon/isolate"
	"github.com/cocoon-go/cocoon/stubs"
)

// bound is a policy on one loop, with an evaluator of its own. It is used only under the loop's
// lock, so evaluations neither share an evaluator nor wait for one.
type bound struct {
	version *version
	loop    *Loop
	eval    *isolate.Evaluator
	reads   []read // except states
	states  states.Use
	chances []int // where in the snapshot its draws are
	draws   ir.Draws
	sites   []site
	names   []stubs.NameID // of Match.Tasks
	match   *selector      // of Match.Tasks and Match.Except, if names do not suffice; else nil
	refers  []*selector    // the selectors that it references
	kinds   uint8          // bit k: tasks of kind k match; 0: all
	perTask bool           // evaluated for each running task, on ticks and custom events
	asking  bool           // evaluated for each running task that may make room, on enqueue
	mild    bool           // can only switch a task and place the arriving one in the queue
	gates   []way          // on enqueue: the ways in which it can act; see gate.go
	gated   bool           // each of them depends on the tasks
	places  bool           // may place the arriving task
	minds   bool           // its results depend on which tasks hold slots, see brisk.go

	inForce atomic.Uint32        // its mode; written under the loop's lock
	part    atomic.Pointer[part] // nil: all tasks; see cohort.go. Written under the loop's lock

	// For a time policy. Guarded by the loop's lock; the interval is also read without it.
	interval atomic.Int64 // ns; 0: not a time policy
	ways     []way        // the ways in which it can have a result other than continue
	prompt   bool         // has no effects, so it is also evaluated at its horizon
	once     bool         // can only throw, so it ignores tasks with a pending throw
	ends     bool         // is about each running task, and may throw
	usual    bool         // may act on any task at any time
	stands   bool         // a clock of its ways may stand still
	due      int64        // its next tick
	looked   int64        // when it was looked at last
	clocked  bool         // it is about the loop, and reads the time of day
	minute   int64        // if clocked: the minute of the day at the last look
	sawQuiet bool         // it was evaluated since the loop became quiet
	busy     int64        // Loop.busy at its last tick
	late     int64        // how long the evaluation in progress is overdue; 0 outside of ticks
}

// read is one stub to write into the snapshot.
type read struct {
	stub   stubs.ID
	offset int
	words  int
	key    stubs.NameID

	quantile      float64 // of a stub such as queue.wait(0.99)
	window        int64   // over which it is measured, in ns; 0 of others
	series, place int     // where the loop's meter has it

	of       stubs.ID  // for a textRead: the stub with the name
	selector *selector // the pattern, also as the key of task.sections; nil without one
	taken    *ir.Read  // for a textRead without a pattern

	zone *time.Location // of the clock
}

// site is one effect, with the function of a call.
type site struct {
	effect stubs.Effect
	fn     *safeFunc
}

// way is an analyzer.Way on one loop.
type way struct {
	clocks []clock
	fixed  []fixedValue
}

// clock is an analyzer.Clock.
type clock struct {
	stub  stubs.ID
	key   read // of task.sections
	bound int64

	sections sectionKey // in the key
}

// fixedValue is an analyzer.Fixed.
type fixedValue struct {
	read  read
	value analyzer.Fixed
}

// mode returns the mode of the policy on the loop.
func (b *bound) mode() Mode { return Mode(b.inForce.Load()) }

// silent reports whether the policy is not evaluated at all.
func (b *bound) silent() bool { return b.mode() == Off || b.version.off.Load() }
