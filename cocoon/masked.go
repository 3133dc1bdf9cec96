package cocoon

import (
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/safepoint"
	"github.com/cocoon-go/cocoon/stubs"
)

// masked reports whether the poll that the calling task is at is no safe point for what is asked of it, because rewritten
// code around it holds a lock, or is inside of what must not be unwound (see keeps). A throw concerns what is around
// the poll up to the section that catches it, a switch what is up to the task's beginning. An explicit SafePoint is never
// masked: who wrote it knows.
//
// It walks the stack, about 1 µs and 0.1 µs a frame, and only if something is asked.
func (s *strand) masked() bool {
	want := s.requests.Load()
	if want&(wantThrow|wantSwitch|wantGap) == 0 && !s.lent.Load() {
		return false
	}
	held := heldLines()
	if held == nil {
		return false // nothing is rewritten here: the poll is explicit
	}
	s.loop.lock()
	within := want&wantThrow != 0 && s.pending != nil && s.pending.section != 0
	s.loop.unlock()
	var pcs [256]uintptr
	for skip := 3; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		for frames := runtime.CallersFrames(pcs[:n]); n > 0; {
			f, more := frames.Next()
			switch {
			case held.has(f) || keeps(f.Function):
				return true
			case strings.HasPrefix(f.Function, "github.com/cocoon-go/cocoon/cocoon."):
				if strings.HasSuffix(f.Function, ".(*strand).call") || within && strings.Contains(f.Function, ".Section[") {
					return false
				}
			case within && s.sections.named(f.Function):
				return false
			}
			if !more {
				break
			}
		}
		if n < len(pcs) {
			return false
		}
	}
}

// keeps reports whether others would lose by a function's being unwound: a sync.Once counts as done for ever, database/sql never
// uses the connection again whose driver it has called, a gRPC client never gives back the stream of its connection, and in a
// package singleflight, whoever wrote it, those who wait for the result get the panic, or wait for ever.
func keeps(function string) bool {
	return function == "sync.(*Once).doSlow" || strings.HasPrefix(function, "database/sql.") ||
		strings.HasPrefix(function, "google.golang.org/grpc.(*ClientConn).") ||
		strings.HasPrefix(function, "google.golang.org/grpc.(*clientStream).") ||
		strings.HasSuffix(packageOf(function), "/singleflight")
}

// named reports whether a section of the name is open. Called by the task's goroutine.
func (st *sectionStack) named(name string) bool {
	for i := range min(int(st.depth.Load()), stubs.MaxStack) {
		if stubs.NameID(st.open[i].name.Load()).String() == name {
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

// packageOf returns the package of a function's name, in which only the last element of the path has its dots escaped.
func packageOf(function string) string {
	dot := strings.LastIndexByte(function, '/') + 1
	if i := strings.IndexByte(function[dot:], '.'); i >= 0 {
		return function[:dot+i]
	}
	return function
}
