package cocoon

import (
	"runtime"
	"strings"

	"github.com/cocoon-go/cocoon/safepoint"
)

func init() { safepoint.AttachFailed(failed) }

// failed returns the error of the throw that unwinds the calling task, if it has unwound the
// function whose deferred call is the caller. It returns nil if that function returns normally: it
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
		if !strings.Contains(f.Function, ".deferwrap") {
			if f.Function != "runtime.gopanic" {
				return nil
			}
			return s.throwing.err
		}
	}
	return nil
}
