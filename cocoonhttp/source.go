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

// isFile reports whether a source is a file on a disk, or the beginning of one as http.ServeContent
// has it: to read it is to wait for the disk at most. It need not be an *os.File: io.Copy hides the
// file's own WriteTo in another type.
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

// source is a pipe or a connection, of which a handler copies its answer. To read it is to wait for
// who writes it, so the slot is given to others, and a throw ends it.
type source struct {
	io.Reader
	deadline deadline
	caller   *tell.Caller
	stop     func() bool // of watching ctx

	mu    sync.Mutex
	cut   bool // its deadline is in the past
	ended bool
}

type deadline interface{ SetReadDeadline(time.Time) error }

// waiting returns a source that is read as one that waits, if it can be interrupted; nil if not.
// Its end must be called.
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

// end leaves the source without a deadline: its owner may have use for it.
func (s *source) end() {
	s.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended = true; s.cut {
		s.deadline.SetReadDeadline(time.Time{})
	}
}
