package cocoon

import (
	"log/slog"
	"runtime"
	"strings"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/safepoint"
	"github.com/cocoon-go/cocoon/stubs"
)

// outlook says what the calling task may do at its current safe point.
type outlook struct {
	asked    uint32        // what was asked of the task when it looked
	throw    *throwRequest // the throw that was due
	lent     bool          // the task had no slot
	masked   bool          // the task must not be preempted here
	cleansUp bool          // the task must not be thrown into here
}

// look finds out whether the current safe point must ignore the pending request. It must in these
// cases:
//
//   - The stack has a callback from C. A throw would unwind C's frames, and leave their locks and
//     memory behind. A suspended task would hold them meanwhile.
//   - Rewritten code on the stack holds a lock. A throw may pass a lock that a deferred call
//     releases, see passes.
//   - The stack has a function that must not be unwound (see Runtime.keeps), or a deferred call of
//     a rewritten function that returns. A throw would end the call half-way. A switch is possible
//     there, unless the rule for the function forbids it.
//
// For a throw, the frames from the safe point up to the section that catches it matter; for a
// switch, all frames up to the task's beginning. An explicit SafePoint is masked like any other,
// because its author may not know the callers of the function.
//
// look walks the stack only if a request is pending and the stack may contain such a frame. A walk
// costs some microseconds, and code under a lock may poll every microsecond. So the outlook is
// known where the stack was masked before (see maskedStacks), and at a poll while the frame is on
// the stack that masked it before (see maskingFrame).
func (s *strand) look() outlook {
	o := outlook{asked: s.requests.Load(), lent: s.lent.Load()}
	if o.asked&(wantThrow|wantSwitch|wantGap) == 0 && !o.lent {
		return o
	}
	if o.asked&wantThrow != 0 {
		s.loop.lock()
		o.throw = s.pending
		s.loop.unlock()
	}
	held, kept, cgo := heldLines(), s.loop.rt.kept.Load(), runtime.NumCgoCall()
	if held == nil && kept == nil && (cgo == cgoAtInit || s.stacks != nil && cgo == s.stacks.cgoSeen) {
		return o
	}
	m, p := s.remembers(), o.throw
	m.masked.about(p, &s.sections, held, kept)
	sum, known := goroutine.StackSum()
	if at, seen := m.masked.find(sum); known && seen && !p.mustSay() {
		o.masked, o.cleansUp = at.masked, at.cleansUp
		return o
	}
	if f := &m.masked.by; s.inserted && !p.mustSay() && (f.masks || o.asked == wantThrow && !o.lent) && f.stays() {
		o.masked, o.cleansUp = f.masks, !f.masks
		return o
	}
	m.busy = true
	defer func() { m.busy = false }()
	w := walk{s: s, within: p != nil && p.section != 0, held: held, frames: goroutine.Frames()}
	w.up()
	s.tellDriver(p, &w)
	o.masked, o.cleansUp = w.by != "" || w.locks != nil && (w.cleansUp || !p.passes(&w)), w.cleansUp
	switch {
	case !o.masked && !w.within: // else it did not look at all of the task
		m.cgoSeen = cgo
	case o.masked && w.explicit:
		s.loop.rt.passOver(&w)
	}
	if known && (o.masked || o.cleansUp) {
		m.masked.add(maskedStack{sum, o.masked, o.cleansUp})
		m.masked.by.Frame, m.masked.by.masks = w.masking(p)
	}
	if (o.masked || o.cleansUp) && p.mustSay() {
		p.say(s, &w)
	}
	return o
}

// stackMemory is what the strand's goroutine remembers of its looks at the stack.
type stackMemory struct {
	cgoSeen int64 // the process's calls of C when the stack was last found free of callbacks
	masked  maskedStacks
	busy    bool // it walks the stack now
}

func (m *stackMemory) isBusy() bool { return m != nil && m.busy }

// remembers returns the strand's memory, which is made when it is first needed.
func (s *strand) remembers() *stackMemory {
	if s.stacks == nil {
		s.stacks = new(stackMemory)
	}
	return s.stacks
}

// stands reports whether the outlook still covers all pending requests. Called under the loop's
// lock.
func (o outlook) stands(s *strand) bool {
	want := s.requests.Load()
	return want&^o.asked == 0 && (want&wantThrow == 0 || o.throw == s.pending) && (o.lent || !s.lent.Load())
}

// cgoAtInit is the number of calls of C before there was any task. While the number stays the same,
// no task is in a callback from C. The same applies to the number when a task's stack was last
// found free of callbacks, see stackMemory.
var cgoAtInit = runtime.NumCgoCall()

// walk is a walk up the stack of the calling task, from its safe point.
type walk struct {
	s      *strand
	within bool   // only up to the section that the throw is for, not to the task's beginning
	held   *lines // nil: no code is rewritten

	place        runtime.Frame // of the safe point
	explicit     bool          // the safe point is a SafePoint call
	by           string        // what masks it: a lock, C; "": nothing
	at           runtime.Frame // where
	atFrame      goroutine.Frame
	lock         string        // the lock's expression, if it is a lock
	cleansUp     bool          // it is inside of a deferred call, or the like
	cleanup      runtime.Frame // which one
	cleanupFrame goroutine.Frame
	kept         bool       // by a rule
	locks        []heldLock // that deferred calls release: they mask it, unless a throw passes them

	here    goroutine.Frame   // at which the walk is; none if it is not found
	frames  []goroutine.Frame // those that follow
	inlined bool              // the function that the walk has seen last is part of the next one
}

// up walks the stack, and stops at the first frame that masks the safe point.
func (w *walk) up() {
	var pcs [256]uintptr
	for skip := 3; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		for frames := runtime.CallersFrames(pcs[:n]); n > 0; {
			f, more := frames.Next()
			if w.ends(f) {
				return
			}
			if !more {
				break
			}
		}
		if n < len(pcs) {
			return
		}
	}
}

// ends looks at a frame, and reports whether the walk ends there.
func (w *walk) ends(f runtime.Frame) bool {
	w.follow(f)
	if w.place.Function == "" && !ours(f.Function) {
		w.place = f
	}
	if n := len(w.locks); n > 0 && w.locks[n-1].how == safepoint.InReceiver {
		w.locks[n-1].how = safepoint.ByDefer
		if w.held.isFresh(f) {
			w.locks[n-1].how = safepoint.Unharmed
		}
	}
	lock, locked := w.held.lockIn(f)
	if locked && lock.how != safepoint.ByItself {
		lock.frame = w.here
		w.locks = append(w.locks, lock)
		locked = false
	}
	kept, noSuspend := false, false
	if !ours(f.Function) {
		kept, noSuspend = w.s.loop.rt.keeps(f.Function, w.held != nil)
	}
	if !w.cleansUp && (kept || w.held.endsIn(f)) {
		w.cleansUp, w.cleanup, w.cleanupFrame, w.kept = true, f, w.here, kept
	}
	switch {
	case isCallback(f.Function):
		w.by = "a callback from C"
	case locked:
		w.by, w.lock = "a lock", lock.name
	case noSuspend:
		w.by = "what must not be unwound"
	case f.Function == slowPoint:
		w.explicit = true
		return false
	case f.Function == taskBegins:
		return true
	default:
		return w.within && (strings.HasPrefix(f.Function, sectionBegin) || w.s.sections.named(f.Function))
	}
	w.at, w.atFrame = f, w.here
	return true
}

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

// named reports whether a section of the name is open. Called by the task's goroutine.
func (st *sectionStack) named(name string) bool {
	for i := range min(int(st.depth.Load()), stubs.MaxStack) {
		if st.open.Load()[i].name.Load().text == name {
			return true
		}
	}
	return false
}
