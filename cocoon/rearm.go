package cocoon

import (
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// replace takes the versions of out out of force on the loop and puts the versions of in in force,
// in one step. When it returns, no version that was only in out is being evaluated or ever will be.
// Called with regMu held.
func (l *Loop) replace(out, in []*version) {
	l.lockAll()
	defer l.unlock()
	var leave []*bound
	for _, v := range out {
		if b := v.on(l); b != nil {
			leave = append(leave, b)
		}
	}
	var enter []notify.Subscription[*bound]
	for _, v := range in {
		if b := v.on(l); b != nil {
			b.setMode(v.mode())
			b.part.Store(v.part)
			if b.due == 0 {
				b.looked = notify.Now()
				b.due = b.looked + b.interval.Load()
			}
			enter = append(enter, notify.Subscription[*bound]{Listener: b, Events: uint16(v.spec.On.Set())})
		}
	}
	l.hub.Replace(leave, enter)
	l.extend(enter, l.retract(leave))
}

// outdated is how long leads may still include withdrawn policies. Such leads are never too late.
// To compute the leads again takes time in proportion to the number of policies, and a program may
// withdraw thousands one by one.
const outdated = int64(100 * time.Millisecond)

// fewOthers is how many policies may remain, for each withdrawn one, if the leads are to be
// computed at once.
const fewOthers = 32

// retract is rearm after policies were withdrawn. It reports whether it has computed the leads
// again. Called under the loop's lock.
func (l *Loop) retract(gone []*bound) (retimed bool) {
	measures, reads, guards, minds, timed := false, false, false, false, false
	for _, b := range gone {
		measures = measures || b.measures()
		reads = reads || b.contextReads() != 0
		minds = minds || b.minds
		guards = guards || !b.mild && !b.version.queued
		timed = timed || b.version.spec.On.Interval > 0
	}
	if measures {
		l.remeter()
	}
	if reads {
		l.updateContextReads()
	}
	if guards {
		l.updateGuarded()
	}
	if minds {
		l.updateMinds()
	}
	switch others := len(l.hub.Listeners(uint16(stubs.Tick))); {
	case !timed:
	case others <= fewOthers*len(gone):
		l.retime()
		return true
	default:
		l.tickBy(notify.Now() + outdated) // evaluateTicks finds the leads outdated
	}
	return false
}

// extend is rearm after policies were added. Its time does not depend on the number of policies
// that were there before. retimed says that the leads include the added policies already. Called
// under the loop's lock.
func (l *Loop) extend(added []notify.Subscription[*bound], retimed bool) {
	const guarding = stubs.Enqueue | stubs.Start | stubs.Exit
	measures, minds, what := false, l.minds.Load(), l.contextReads.Load()
	var timed []*bound
	for _, s := range added {
		b, on := s.Listener, stubs.Event(s.Events)
		what |= b.contextReads()
		measures = measures || b.measures()
		minds = minds || b.minds
		l.guarded = l.guarded || on&guarding != 0 && b.guards()
		if on&stubs.Tick != 0 {
			timed = append(timed, b)
		}
	}
	l.contextReads.Store(what)
	l.minds.Store(minds)
	if measures {
		l.remeter()
	}
	if len(timed) > 0 && !retimed {
		l.retimeWith(timed)
	}
	ofLoop := slices.ContainsFunc(timed, func(b *bound) bool { return !b.perTask })
	if ofLoop || len(timed) > 0 && !(l.core.Idle() && len(l.absent.lent) == 0) {
		l.tickBy(0) // tasks may be running already
	}
}

// rearm schedules the evaluation of the loop's policies after their modes have changed. Called under
// the loop's lock.
func (l *Loop) rearm() {
	l.remeter()
	l.updateGuarded()
	if l.retime(); l.leads.Load() != nil {
		l.tickBy(0) // tasks may be running already
	}
}

// updateGuarded finds out whether a policy must see each task. Called under the loop's lock.
func (l *Loop) updateGuarded() {
	l.guarded = slices.ContainsFunc([]stubs.Event{stubs.Enqueue, stubs.Start, stubs.Exit}, func(e stubs.Event) bool {
		return slices.ContainsFunc(l.hub.Listeners(uint16(e)), (*bound).guards)
	})
}

// setMode puts the bound's policy in force in mode m, and discards what it has written to states in
// observe mode. It reports whether the mode was another one. Called under the loop's lock.
func (b *bound) setMode(m Mode) (changed bool) {
	if b.mode() == m {
		return false
	}
	b.inForce.Store(uint32(m))
	b.version.ended.Store(false)
	b.states.Forget(&b.loop.rt.steps)
	return true
}
