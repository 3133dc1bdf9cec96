package cocoonhttp

import (
	"fmt"
	"log"
	"net/http"
	"path"
	"runtime"
	"strings"
)

// complain logs a handler's mistake with the handler's line, as net/http does for HTTP/1. net/http
// itself would log the caller of its writer, which is this package.
func (r *heldResponse) complain(what string) {
	if r.request == nil || r.request.ProtoMajor != 1 {
		return
	}
	f := caller()
	text := fmt.Sprintf("http: %s from %s (%s:%d)", what, f.Function, path.Base(f.File), f.Line)
	if s, ok := r.request.Context().Value(http.ServerContextKey).(*http.Server); ok && s.ErrorLog != nil {
		s.ErrorLog.Print(text)
		return
	}
	log.Print(text)
}

// own is the prefix of the names of this package's functions.
const own = "github.com/cocoon-go/cocoon/cocoonhttp."

// caller returns the first frame outside net/http, package cocoon and this package.
func caller() (f runtime.Frame) {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for more := true; more; {
		f, more = frames.Next()
		inside := strings.HasPrefix(f.Function, own) && !strings.HasSuffix(f.File, "_test.go")
		if !inside && !strings.HasPrefix(f.Function, "net/http.") && !strings.HasPrefix(f.Function, "github.com/cocoon-go/cocoon/cocoon.") {
			return f
		}
	}
	return f
}
