package cocoon

import (
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/safepoint"
	"github.com/cocoon-go/cocoon/stubs"
)

// masked reports whether the safe point that the calling task is at is none for what is asked of
// it:
//
//   - A callback from C is around it. A throw would unwind C's frames, and what these have locked
//     or allocated would stay so; a task that is suspended would hold it meanwhile.
//   - Rewritten code around it holds a lock, or is inside of what must not be unwound (see keeps).
//
// For a throw, the frames from the safe point up to the section that catches it matter; for a
// switch, all frames up to the task's beginning. An explicit SafePoint is masked like any other,
// because its author may not know the callers of the function.
//
// It walks the stack, about 1 µs and 0.1 µs a frame, only if something is asked, and where there is
// something to be found.
func (s *strand) masked() bool {
	want := s.requests.Load()
	if want&(wantThrow|wantSwitch|wantGap) == 0 && !s.lent.Load() {
		return false
	}
	held, cgo := heldLines(), runtime.NumCgoCall()
	if held == nil && (cgo == cgoAtInit || cgo == s.cgoSeen) {
		return false
	}
	within := false
	if want&wantThrow != 0 {
		s.loop.lock()
		within = s.pending != nil && s.pending.section != 0
		s.loop.unlock()
	}
	w := walk{s: s, within: within, held: held}
	if w.up(); w.by == "" {
		if !within { // else it did not look at all of the task
			s.cgoSeen = cgo
		}
		return false
	}
	if w.explicit {
		s.loop.rt.passOver(&w)
	}
	return true
}

// cgoAtInit is the number of calls of C before there was any task. While the number stays the same,
// no task is in a callback from C. The same applies to the number when a task's stack was last
// found free of callbacks, see strand.cgoSeen.
var cgoAtInit = runtime.NumCgoCall()

// walk is a walk up the stack of the calling task, from its safe point.
type walk struct {
	s      *strand
	within bool   // only up to the section that the throw is for, not to the task's beginning
	held   *lines // nil: no code is rewritten

	place    runtime.Frame // of the safe point
	explicit bool          // the safe point is a SafePoint call
	by       string        // what masks it: a lock, C; "": nothing
	at       runtime.Frame // where
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

// Names of functions of this package, as they appear on the stack.
const (
	ownPackage   = "github.com/cocoon-go/cocoon/cocoon."
	slowPoint    = ownPackage + "answerFor" // the slow path of SafePoint
	taskBegins   = ownPackage + "(*strand).call"
	sectionBegin = ownPackage + "Section[" // of any type
)

// ends looks at a frame, and reports whether the walk ends there.
func (w *walk) ends(f runtime.Frame) bool {
	if w.place.Function == "" && !ours(f.Function) {
		w.place = f
	}
	switch {
	case f.Function == "runtime.cgocallback" || f.Function == "runtime.cgocallbackg":
		w.by = "a callback from C"
	case w.held != nil && w.held.has(f):
		w.by = "a lock"
	case w.held != nil && keeps(f.Function):
		w.by = "what must not be unwound"
	case f.Function == slowPoint:
		w.explicit = true
		return false
	case f.Function == taskBegins:
		return true
	default:
		return w.within && (strings.HasPrefix(f.Function, sectionBegin) || w.s.sections.named(f.Function))
	}
	w.at = f
	return true
}

// passOver logs that a SafePoint is masked where it stands, once for each place.
func (rt *Runtime) passOver(w *walk) {
	place := lineOf(w.place)
	if _, known := rt.passedOver.LoadOrStore(place, nil); known {
		return
	}
	rt.log.add(slog.LevelWarn, "cocoon: a SafePoint under "+w.by+" is passed over: the task is preempted later", "place", place,
		"under", lineOf(w.at))
}

// keeps reports whether others would lose by a function's being unwound: a sync.Once counts as done
// for ever, database/sql never uses the connection again whose driver it has called, a gRPC client
// never gives back the stream of its connection, and in a package singleflight, whoever wrote it,
// those who wait for the result get the panic, or wait for ever.
func keeps(function string) bool {
	return function == "sync.(*Once).doSlow" || strings.HasPrefix(function, "database/sql.") ||
		strings.HasPrefix(function, "google.golang.org/grpc.(*ClientConn).") ||
		strings.HasPrefix(function, "google.golang.org/grpc.(*clientStream).") ||
		strings.HasSuffix(packageOf(function), "/singleflight")
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

// lines are where locks are held: by package and file, pairs of a first and a last line.
type lines struct {
	last *safepoint.Held // the newest that is included
	in   map[[2]string][]int
}

var knownLines atomic.Pointer[lines]

// heldLines returns what is known of locks, or nil if no code is rewritten.
func heldLines() *lines {
	all, known := safepoint.AllHeld(), knownLines.Load()
	if all == nil || known != nil && known.last == all {
		return known
	}
	known = &lines{last: all, in: map[[2]string][]int{}}
	for h := all; h != nil; h = h.Next {
		at := [2]string{h.Package, h.File}
		known.in[at] = append(known.in[at], h.Lines...)
	}
	knownLines.Store(known)
	return known
}

func (l *lines) has(f runtime.Frame) bool {
	pairs := l.in[[2]string{packageOf(f.Function), filepath.Base(f.File)}]
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] <= f.Line && f.Line <= pairs[i+1] {
			return true
		}
	}
	return false
}

// packageOf returns the package of a function's name. Only the last element of the path has its
// dots escaped.
func packageOf(function string) string {
	dot := strings.LastIndexByte(function, '/') + 1
	if i := strings.IndexByte(function[dot:], '.'); i >= 0 {
		return function[:dot+i]
	}
	return function
}
