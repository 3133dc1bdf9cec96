package cocoonhttp

import (
	"io"
	"net/http"
	"os"
	"sync"
)

// ReadFrom implements io.ReaderFrom. Files go to the writer below, which may have the kernel copy them. Of other sources
// nobody knows whether reading them is waiting or work, so they are read while the task has its slot.
func (a *answer) ReadFrom(src io.Reader) (n int64, err error) {
	under, ok := a.under.(io.ReaderFrom)
	if !ok || !isFile(src) {
		buf := copies.Get().(*[]byte)
		defer copies.Put(buf)
		return io.CopyBuffer(struct{ io.Writer }{a}, src, *buf)
	}
	if a.status == 0 && !a.hijacked {
		a.decide(http.StatusOK)
	}
	_, err = a.pass(func() (_ int, err error) {
		n, err = under.ReadFrom(src)
		return 0, err
	})
	a.written += n
	return n, err
}

// FlushError is Flush for http.ResponseController.
func (a *answer) FlushError() error {
	if a.status == 0 && !a.hijacked {
		a.decide(http.StatusOK)
	}
	_, err := a.pass(func() (int, error) { return 0, a.control().Flush() })
	return err
}

// control returns what sets the connection's deadlines, and flushes.
func (a *answer) control() *http.ResponseController { return http.NewResponseController(a.under) }

// copies are buffers to copy answers with.
var copies = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

// isFile reports whether a source is a file, or the beginning of one as http.ServeContent has it: to read it is to wait for
// the disk at most.
func isFile(src io.Reader) bool {
	if limited, ok := src.(*io.LimitedReader); ok {
		src = limited.R
	}
	_, ok := src.(*os.File)
	return ok
}
