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

// gapsVariable names a folder: each runtime whose Config.Gaps is 0 measures, every millisecond, and
// keeps its gaps in a file there. cocoon gaps -run sets it.
const gapsVariable = "COCOON_GAPS"

// gapFile keeps a record in a file: soon after each gap, because many servers end by being killed.
type gapFile struct {
	path string
	log  *logQueue

	mu      sync.Mutex // held while it is written
	closed  bool       // guarded by mu
	pending atomic.Bool
}

var gapFiles atomic.Int64

// newGapFile returns nil for no folder.
func newGapFile(dir string, log *logQueue) *gapFile {
	if dir == "" {
		return nil
	}
	name := fmt.Sprintf("gaps-%d-%d.json", os.Getpid(), gapFiles.Add(1))
	return &gapFile{path: filepath.Join(dir, name), log: log}
}

// touch has the file written before long. It is called under a loop's lock.
func (f *gapFile) touch(g *gapRecord) {
	if f != nil && f.pending.CompareAndSwap(false, true) {
		time.AfterFunc(100*time.Millisecond, func() { f.write(g, false) })
	}
}

// write brings the file up to date, for the last time or not. It is replaced as a whole: nobody
// reads half of one.
func (f *gapFile) write(g *gapRecord, last bool) {
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
	text, err := json.Marshal(g.sorted())
	if err == nil {
		if err = os.WriteFile(f.path+".new", text, 0o666); err == nil {
			err = os.Rename(f.path+".new", f.path)
		}
	}
	if err != nil {
		f.log.add(slog.LevelWarn, "cocoon: the measured gaps cannot be written", "folder", gapsVariable+"="+filepath.Dir(f.path), "error", err)
	}
}
