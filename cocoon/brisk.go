package cocoon

import (
	"slices"

	"github.com/cocoon-go/cocoon/stubs"
)

// Brisk tasks. A task that announces its waits is brisk if it runs for a shorter time between two
// of them than it takes to get a slot: the handler of a web socket, for each message. While the
// process is saturated, it would wait for a slot first and for a P after that, and in plain Go only
// for a P. So then a brisk task asks for no slot when it comes back from a Block and a holder of
// one has no P. It stands aside (aside.go), as tasks do that mostly wait without saying so. It has
// waited for a slot in order to start, so queue and overload policies see as many arrivals as
// before. If all holders run, a brisk task queues. With 64 one-way streams of gRPC, a message took
// 6 µs of processor time so, because each stream found more to send when its turn came, and 150 µs
// when all stood aside.
//
//  1. A task that comes back from a Block, and has lost its slot there, notes whether it has run
//     for at most briskRun since it last came back so. If this is so most of the time, the tasks of
//     its class are brisk. Only what happens in a saturated process counts.
//  2. A task found running in two sweeps surfaces, and counts against it.
//  3. A brisk task asks for slots where a policy minds: where one may act on the task by time,
//     reads accounts or how many slots are taken, listens to Blocks, or orders the tasks that wait.
//     Where a task is suspended on a loop with one slot, it asks for one, too, unless it is safe
//     (invariant 3).
//
// In one server, streams, RPCs and web sockets shared two saturated cores with other requests. They
// queued for a slot at most messages.

// briskRun is how long a brisk task runs at most, in µs. Looks hardly find it running.
const briskRun = 200

// learnBrisk notes how long the task, which is back from a Block without its slot, has run. Called
// under the loop's lock by the task's goroutine.
func (s *strand) learnBrisk(now int64) {
	ran := uint32(s.core.Ran(now) / 1000)
	if s.loop.rt.saturated(now) {
		s.task.class.brisk.found(ran-s.ranUntil <= briskRun)
	}
	s.ranUntil = ran
}

// brisk reports whether the task needs no slot after a Block because the tasks of its class are
// brisk. It takes no lock.
func (s *strand) brisk() bool {
	l, rt := s.loop, s.loop.rt
	return rt.warmth.full.Load() && s.task.class.brisk.mostlyWait() && l.lends() && !l.minds.Load() &&
		(s.core.Kind == Safe || len(l.slots) > 1 || !l.suspends.Load()) && !s.mayBeTimed() &&
		rt.tenants.Load() == nil && rt.gaps == nil && !rt.costs.Load()
}

// mindsSlots reports whether the policy's results depend on which tasks hold slots, or in which
// order tasks come back from Blocks. Whether a time policy may act on a task is asked for each
// (mayBeTimed).
func (b *bound) mindsSlots() bool {
	on := b.version.spec.On.Set()
	return on&(stubs.Block|stubs.Unblock) != 0 || b.measures() ||
		slices.ContainsFunc(b.sites, func(x site) bool { return x.effect == stubs.Rank || x.effect == stubs.Background }) ||
		slices.ContainsFunc(b.reads, func(r read) bool {
			switch r.stub {
			case stubs.TaskRunning, stubs.TaskSectionRunning, stubs.TaskBlocked:
				return on&^stubs.Tick != 0
			case stubs.ArrivingRunning, stubs.ArrivingVirtualTime, stubs.LoopBusy, stubs.LoopService, stubs.LoopUtilization:
				return true
			}
			return false
		})
}

// updateMinds finds out whether a policy minds which tasks hold slots. Called under the loop's
// lock.
func (l *Loop) updateMinds() {
	minds := false
	for e := stubs.Event(1); e&stubs.AnyEvent != 0; e <<= 1 {
		minds = minds || slices.ContainsFunc(l.hub.Listeners(uint16(e)), func(b *bound) bool { return b.minds })
	}
	l.minds.Store(minds)
}
