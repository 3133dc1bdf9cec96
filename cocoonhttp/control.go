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
	r := w.lock()
	if isFile(src) {
		if under, ok := r.under.(io.ReaderFrom); ok {
			defer w.mu.Unlock()
			return r.readFile(src, under)
		}
	} else if s := waiting(r.ctx, &r.blocking().Caller, src); s != nil {
		defer s.end()
		src = s
	}
	w.mu.Unlock() // the source may be the handler's own code
	buf := copies.Get().(*[]byte)
	defer copies.Put(buf)
	return io.CopyBuffer(struct{ io.Writer }{w}, src, *buf)
}

// readFile copies a file to the underlying writer.
func (r *heldResponse) readFile(src io.Reader, under io.ReaderFrom) (n int64, err error) {
	if r.status == 0 && !r.hijacked {
		// An empty or unreadable file decides nothing, and a small one is held back.
		if n, err = r.readStart(src); n < holdSize || err != nil {
			return n, err
		}
	}
	r.wrote()
	rest := int64(0)
	_, err = r.pass(math.MaxInt, func() (_ int, err error) {
		rest, err = under.ReadFrom(src)
		return 0, err
	})
	r.written, r.passed = r.written+rest, r.passed+rest
	return n + rest, err
}

// readStart copies the first holdSize bytes of src, or all if there are fewer.
func (r *heldResponse) readStart(src io.Reader) (n int64, err error) {
	start := holds.Get().(*[]byte)
	defer holds.Put(start)
	got, err := io.ReadFull(src, (*start)[:holdSize])
	if got > 0 {
		wrote, failed := r.Write((*start)[:got])
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
func (r *heldResponse) FlushError() error {
	if r.status == 0 && !r.hijacked {
		r.decide(http.StatusOK)
	}
	_, err := r.pass(0, func() (int, error) { return 0, r.control().Flush() })
	if len(r.held) == 0 {
		r.release() // a stream may stay open for hours
	}
	return err
}

// control returns the controller that sets the connection's deadlines, and flushes.
func (r *heldResponse) control() *http.ResponseController { return http.NewResponseController(r.under) }

// copies are buffers to copy responses with.
var copies = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}
