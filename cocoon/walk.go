package cocoon

import (
	"runtime"
	"strings"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/safepoint"
)

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
	kept         bool          // by a rule
	locks        []heldLock    // that deferred calls release: they mask it, unless a throw passes them
	byHand       bool          // inside of a function that will release a resource by no deferred call
	owner        runtime.Frame // which one
	ownerFrame   goroutine.Frame

	here    goroutine.Frame   // at which the walk is; none if it is not found
	frames  []goroutine.Frame // the frames that follow
	inlined bool              // the function that the walk has seen last is part of the next one
}

// up walks the stack, and stops at the first frame that masks the safe point. The stack of a deep
// recursion has millions of frames, and runtime.Callers also walks over the frames that it skips:
// so the pieces grow. Behind the first piece, a place that changes nothing is looked at once.
func (w *walk) up() {
	var first [256]uintptr
	n := runtime.Callers(3, first[:])
	for frames, more := runtime.CallersFrames(first[:n]), n > 0; more; {
		var f runtime.Frame
		if f, more = frames.Next(); w.ends(f) {
			return
		}
	}
	plain := map[uintptr]runtime.Frame{}
	for skip, pcs := 3+n, first[:]; n == len(pcs); skip += n {
		pcs = make([]uintptr, 2*skip)
		n = runtime.Callers(skip, pcs)
		for i, pc := range pcs[:n] {
			f, known := plain[pc]
			if known && !w.asksCaller() {
				w.follow(f)
				continue
			}
			f, _ = runtime.CallersFrames(pcs[i : i+1]).Next()
			before := w.walked()
			if w.ends(f) {
				return
			}
			if before == w.walked() {
				plain[pc] = f
			}
		}
	}
}

// walked holds the findings of a walk so far that a later frame may change.
type walked struct {
	locks, how       int
	cleansUp, byHand bool
	owner            goroutine.Frame
}

func (w *walk) walked() walked {
	all := walked{locks: len(w.locks), cleansUp: w.cleansUp, byHand: w.byHand, owner: w.ownerFrame}
	if all.locks > 0 {
		all.how = w.locks[all.locks-1].how
	}
	return all
}

// asksCaller reports whether the next frame decides if the last lock is part of an unshared value.
func (w *walk) asksCaller() bool {
	n := len(w.locks)
	return n > 0 && w.locks[n-1].how == safepoint.InReceiver
}

// ends looks at a frame, and reports whether the walk ends there.
func (w *walk) ends(f runtime.Frame) bool {
	w.follow(f)
	if w.place.Function == "" && !ours(f.Function) {
		w.place = f
	}
	if w.asksCaller() {
		last := &w.locks[len(w.locks)-1]
		last.how = safepoint.ByDefer
		if w.held.isFresh(f) {
			last.how = safepoint.Unharmed
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
	if w.held.byHandIn(f) { // the outermost stays longest
		w.byHand, w.owner, w.ownerFrame = true, f, w.here
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
