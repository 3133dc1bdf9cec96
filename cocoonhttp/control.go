package cocoonhttp

import (
	"io"
	"math"
	"net/http"
	"sync"
)

// ReadFrom implements io.ReaderFrom. Files go to the underlying writer, which may have the kernel
// copy them. Reading a pipe or a connection is a wait. For any other source it is unknown whether
// reading is a wait or work, so the task keeps its slot while it reads.
func (w *writer) ReadFrom(src io.Reader) (int64, error) {
	a := w.lock()
	if isFile(src) {
		if under, ok := a.under.(io.ReaderFrom); ok {
			defer w.mu.Unlock()
			return a.readFile(src, under)
		}
	} else if s := waiting(a.ctx, &a.blocking().Caller, src); s != nil {
		defer s.end()
		src = s
	}
	w.mu.Unlock() // the source may be the handler's own code
	buf := copies.Get().(*[]byte)
	defer copies.Put(buf)
	return io.CopyBuffer(struct{ io.Writer }{w}, src, *buf)
}

// readFile copies a file to the underlying writer.
func (a *answer) readFile(src io.Reader, under io.ReaderFrom) (n int64, err error) {
	if a.status == 0 && !a.hijacked {
		// A file that is empty or cannot be read decides nothing, and a small one is held back.
		if n, err = a.readStart(src); n < holdSize || err != nil {
			return n, err
		}
	}
	a.wrote()
	rest := int64(0)
	_, err = a.pass(math.MaxInt, func() (_ int, err error) {
		rest, err = under.ReadFrom(src)
		return 0, err
	})
	a.written, a.passed = a.written+rest, a.passed+rest
	return n + rest, err
}

// readStart copies the first holdSize bytes of src, or all if there are fewer.
func (a *answer) readStart(src io.Reader) (n int64, err error) {
	start := holds.Get().(*[]byte)
	defer holds.Put(start)
	got, err := io.ReadFull(src, (*start)[:holdSize])
	if got > 0 {
		wrote, failed := a.Write((*start)[:got])
		if n = int64(wrote); failed != nil {
			return n, failed
		}
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return n, err
}

// FlushError is Flush for http.ResponseController.
func (a *answer) FlushError() error {
	if a.status == 0 && !a.hijacked {
		a.decide(http.StatusOK)
	}
	_, err := a.pass(0, func() (int, error) { return 0, a.control().Flush() })
	if len(a.held) == 0 {
		a.release() // a stream may stay open for hours
	}
	return err
}

// control returns the controller that sets the connection's deadlines, and flushes.
func (a *answer) control() *http.ResponseController { return http.NewResponseController(a.under) }

// copies are buffers to copy responses with.
var copies = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}
