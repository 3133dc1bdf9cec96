package gaprecord

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// File keeps a record's gaps in a file. It is written soon after each gap, because many servers end
// by being killed. A nil File does nothing.
type File struct {
	path string
	tell func(error)

	mu      sync.Mutex // held while the file is written
	closed  bool       // guarded by mu
	pending atomic.Bool
}

var files atomic.Int64

// NewFile returns a file with a name of its own in the folder, or nil if the folder is empty. tell
// gets the errors of writing; its caller holds no locks but the file's.
func NewFile(folder string, tell func(error)) *File {
	if folder == "" {
		return nil
	}
	name := fmt.Sprintf("gaps-%d-%d.json", os.Getpid(), files.Add(1))
	return &File{path: filepath.Join(folder, name), tell: tell}
}

// touch makes the file be written soon, with the gaps that sorted returns then. It neither waits
// nor writes, because a loop's lock may be held.
func (f *File) touch(sorted func() []Gap) {
	if f != nil && f.pending.CompareAndSwap(false, true) {
		time.AfterFunc(100*time.Millisecond, func() { f.write(sorted, false) })
	}
}

// write brings the file up to date; last says that this is the last time. It replaces the whole
// file, so that a reader never sees half of one.
func (f *File) write(sorted func() []Gap, last bool) {
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
		f.tell(err)
	}
}
