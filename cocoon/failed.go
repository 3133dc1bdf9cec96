package cocoon

import (
	"context"
	"runtime"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/cocoon-go/cocoon/safepoint"
)

func init() {
	safepoint.AttachFailed(failed)
	inside.Unwinding = unwindingOf
}

// failed returns the error of the throw that unwinds the calling task, if it has unwound the
// function that has deferred the caller. It returns nil if that function returns normally: it
// may itself be called by a deferred call that cleans up, and its own result is not the throw's.
func failed() error {
	s := strandOfGoroutine()
	if s == nil || s.throwing == nil {
		return nil
	}
	var pcs [16]uintptr
	// from the caller of the deferred function
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs[:])])
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if !isDeferred(f.Function) {
			if f.Function != goPanic {
				return nil
			}
			return s.throwing.err
		}
	}
	return nil
}

// unwindingOf returns the throw that unwinds the task of ctx, or a task nested in it, if the caller
// runs in a deferred call at that time. A throw that code has recovered unwinds nothing.
func unwindingOf(ctx context.Context) error {
	t := TaskOf(ctx)
	if t.here() == nil {
		return nil
	}
	for s := t.strand; s != nil; s = s.inner {
		if s.throwing != nil && goroutine.Unwinding() {
			return s.throwing.err
		}
	}
	return nil
}
