package cocoonhttp

import (
	"context"
	"io"
	"io/fs"
	"sync"
	"syscall"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tell"
)

// isFile reports whether a source is a regular file, or the first part of one as http.ServeContent
// passes it: reading it waits for the disk at most. It need not be an *os.File, because io.Copy
// wraps the file in another type to hide the file's own WriteTo.
func isFile(src io.Reader) bool {
	if limited, ok := src.(*io.LimitedReader); ok {
		src = limited.R
	}
	f, ok := src.(interface {
		syscall.Conn
		Stat() (fs.FileInfo, error)
	})
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular()
}

// source is a pipe or a connection that a handler copies to its response. Reading it waits for its
// writer, so the task gives its slot back, and a throw ends the read.
type source struct {
	io.Reader
	deadline deadline
	caller   *tell.Caller
	stop     func() bool // stops watching ctx

	mu    sync.Mutex
	cut   bool // its deadline is in the past
	ended bool
}

type deadline interface{ SetReadDeadline(time.Time) error }

// waiting returns a source that reads src as a wait, if reads of src can be interrupted, or else
// nil. The caller must call its end method.
func waiting(ctx context.Context, caller *tell.Caller, src io.Reader) *source {
	from := src
	if limited, ok := src.(*io.LimitedReader); ok {
		from = limited.R
	}
	d, ok := from.(deadline)
	if !ok || cocoon.TaskOf(ctx) == nil {
		return nil
	}
	s := &source{Reader: src, deadline: d, caller: caller}
	s.stop = context.AfterFunc(ctx, s.interrupt)
	return s
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (n int, err error) {
	err = s.caller.Call(func() error {
		n, err = s.Reader.Read(p)
		return err
	})
	return n, err
}

// interrupt is called when the task's context has ended.
func (s *source) interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended && tell.Thrown(s.caller.Ctx) != nil {
		s.cut = s.deadline.SetReadDeadline(longAgo) == nil
	}
}

// end leaves the source without a deadline, because its owner may go on to use it.
func (s *source) end() {
	s.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended = true; s.cut {
		s.deadline.SetReadDeadline(time.Time{})
	}
}
