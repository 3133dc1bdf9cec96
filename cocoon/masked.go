package cocoon

import (
	"log/slog"
	"runtime"
	"slices"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/keep"
)

// maskState tells what may happen to the calling task at its current safe point.
type maskState struct {
	asked    uint32        // what was asked of the task when it looked
	throw    *throwRequest // the throw that was due
	lent     bool          // the task had no slot
	masked   bool          // the task must not be preempted here
	cleansUp bool          // the task must not be thrown into here
}

// findMask finds out whether the current safe point must ignore the pending request. It must in
// these cases:
//
//   - The stack has a callback from C. A throw would unwind C's frames, and leave their locks and
//     memory behind. A suspended task would go on holding them.
//   - Rewritten code on the stack holds a lock. A throw may pass a lock that a deferred call
//     releases, see passes.
//   - The stack has a function that must not be unwound (see Runtime.keeps), or a deferred call of
//     a rewritten function that returns. A throw would end the call half-way. A switch is possible
//     there, unless the rule for the function forbids it.
//   - Rewritten code on the stack has a resource that no deferred call will release. A throw waits
//     for the release, but not for long: see spares. A switch is possible there.
//
// For a throw, the frames from the safe point up to the section that catches it matter; for a
// switch, all frames up to the task's beginning. An explicit SafePoint is masked like any other,
// because its author may not know the callers of the function.
//
// findMask walks the stack only if a request is pending and the stack may contain such a frame. A
// walk costs some microseconds, and code under a lock may poll every microsecond. So findMask
// remembers the stacks that were masked (maskedStacks) and the frame that masked the last of them
// (maskingFrame): the same stack, and any stack that still has this frame, needs no walk.
func (s *strand) findMask() maskState {
	o := maskState{asked: s.requests.Load(), lent: s.lent.Load()}
	if o.asked&(wantThrow|wantSwitch|wantGap) == 0 && !o.lent {
		return o
	}
	if o.asked&wantThrow != 0 {
		s.loop.lock()
		o.throw = s.pending
		s.loop.unlock()
	}
	held, kept, cgo := heldLines(), s.loop.rt.kept.Load(), runtime.NumCgoCall()
	if held == nil && kept == nil && (cgo == cgoAtInit || s.stacks.Load().sawFree(cgo)) {
		return o
	}
	m, p := s.remembers(), o.throw
	if m.masked == nil {
		m.masked = new(maskedStacks)
	}
	met := m.masked
	met.about(p, &s.sections, held, kept)
	sum, known := goroutine.StackSum()
	if at, seen := met.find(sum); known && seen && !p.mustSay() {
		o.masked, o.cleansUp = at.masked, at.cleansUp
		return o
	}
	if f := &met.by; s.inserted && !p.mustSay() && (f.masks || o.asked == wantThrow && !o.lent) && f.stays() {
		o.masked, o.cleansUp = f.masks, !f.masks
		return o
	}
	m.busy = true
	defer func() { m.busy = false }()
	w := walk{s: s, within: p != nil && p.section != 0, held: held, frames: goroutine.Frames()}
	w.up()
	s.tellClient(p, &w)
	o.masked, o.cleansUp = w.by != "" || w.locks != nil && (w.cleansUp || !p.passes(&w)), w.cleansUp || p.spares(&w)
	switch {
	case !o.masked && !w.within: // within a section, the walk has not seen the rest of the task
		m.cgoSeen = cgo
	case o.masked && w.explicit:
		s.loop.rt.passOver(&w)
	}
	if known && (o.masked || o.cleansUp) {
		met.add(maskedStack{sum, o.masked, o.cleansUp})
		met.by.Frame, met.by.masks = w.masking(p)
	}
	if (o.masked || o.cleansUp) && p.mustSay() {
		p.say(s, &w)
	}
	return o
}

// stands reports whether the state still covers all pending requests. Called under the loop's
// lock.
func (o maskState) stands(s *strand) bool {
	want := s.requests.Load()
	return want&^o.asked == 0 && (want&wantThrow == 0 || o.throw == s.pending) && (o.lent || !s.lent.Load())
}

// cgoAtInit is the number of calls of C before there was any task. While the number stays the same,
// no task is in a callback from C. The same applies to the number when a task's stack was last
// found free of callbacks, see stackMemory.
var cgoAtInit = runtime.NumCgoCall()

// passOver logs a masked SafePoint, once for each place.
func (rt *Runtime) passOver(w *walk) {
	place, by, at := lineOf(w.place), w.by, w.at
	if by == "" {
		by, at = "a lock", w.locks[0].at
	}
	if _, known := rt.passedOver.LoadOrStore(place, nil); known {
		return
	}
	rt.log.add(slog.LevelWarn, "cocoon: a SafePoint under "+by+" is passed over: the task is preempted later", "place", place,
		"under", lineOf(at))
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
	if w.cleansUp {
		return w.cleanupFrame, false
	}
	return w.ownerFrame, false
}
