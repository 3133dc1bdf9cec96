package cocoon

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// gapFile keeps a runtime's gaps in a file. It is written soon after each gap, because many servers
// end by being killed.
type gapFile struct {
	path string
	log  *logQueue

	mu      sync.Mutex // held while the file is written
	closed  bool       // guarded by mu
	pending atomic.Bool
}

var gapFiles atomic.Int64

// newGapFile returns nil if dir is empty.
func newGapFile(dir string, log *logQueue) *gapFile {
	if dir == "" {
		return nil
	}
	name := fmt.Sprintf("gaps-%d-%d.json", os.Getpid(), gapFiles.Add(1))
	return &gapFile{path: filepath.Join(dir, name), log: log}
}

// touch makes the file be written soon, with the gaps that sorted returns then. It is called under
// a loop's lock.
func (f *gapFile) touch(sorted func() []Gap) {
	if f != nil && f.pending.CompareAndSwap(false, true) {
		time.AfterFunc(100*time.Millisecond, func() { f.write(sorted, false) })
	}
}

// write brings the file up to date; last says that this is the last time. It replaces the whole
// file, so that a reader never sees half of one.
func (f *gapFile) write(sorted func() []Gap, last bool) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	f.closed = last
	f.pending.Store(false)
	text, err := json.Marshal(sorted())
	if err == nil {
		if err = os.WriteFile(f.path+".new", text, 0o666); err == nil {
			err = os.Rename(f.path+".new", f.path)
		}
	}
	if err != nil {
		f.log.add(slog.LevelWarn, "cocoon: the measured gaps cannot be written", "folder", gapsVariable+"="+filepath.Dir(f.path), "error", err)
	}
}
