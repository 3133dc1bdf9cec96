// Package filenotify tells when a file may have changed, from notifications of the file system. It
// promises no more: a notification is a reason to look at the file, and file systems of networks
// send none for changes by other machines, so users also look at the file now and then.
package filenotify

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/fsnotify/fsnotify"
)

const (
	// buffered is how many notifications wait for Drain. The kernel keeps the next ones, and merges
	// equal ones in a row, so a log with many writes causes few notifications.
	buffered = 8
	// maxLinks bounds the symbolic links on the way to a file, as Linux does (path_resolution(7)).
	maxLinks = 40
)

// Watch watches all directory entries that decide which file a path names: the file, and each
// symbolic link on the way to it. Kubernetes replaces a link to update a ConfigMap, and many
// programs replace a file by renaming another one. A Watch is used by one goroutine.
type Watch struct {
	path    string
	fs      *fsnotify.Watcher
	entries map[string]bool // of the latest Follow
	dirs    map[string]bool // that hold them
}

// New returns a watch of the file with that absolute path. Follow begins the watching. New returns
// an error if the system has no notifications, or refuses more of them.
func New(path string) (*Watch, error) {
	fs, err := fsnotify.NewBufferedWatcher(buffered)
	if err != nil {
		return nil, err
	}
	return &Watch{path: filepath.Clean(path), fs: fs}, nil
}

// Close stops the watch and its goroutine. Close of a nil Watch does nothing.
func (w *Watch) Close() {
	if w != nil {
		_ = w.fs.Close() // no other code uses the descriptor
	}
}

// Notes has an element when Drain has something to do. The channel of a nil Watch is nil.
func (w *Watch) Notes() <-chan fsnotify.Event {
	if w == nil {
		return nil
	}
	return w.fs.Events
}

// Lost has an element when notifications were lost. The channel of a nil Watch is nil.
func (w *Watch) Lost() <-chan error {
	if w == nil {
		return nil
	}
	return w.fs.Errors
}

// Drain takes note, which came from Notes, and further notifications that have arrived. It reports
// whether one of them is about the file, or may be: the kernel keeps thousands, and the one about
// the file can stand behind all of them. The rest concern its neighbours in the directory.
func (w *Watch) Drain(note fsnotify.Event) bool {
	about := w.concerns(note)
	for range buffered {
		select {
		case note = <-w.fs.Events:
			about = w.concerns(note) || about
		default:
			return about
		}
	}
	return true
}

func (w *Watch) concerns(note fsnotify.Event) bool {
	name := filepath.Clean(note.Name)
	return w.entries[name] || w.dirs[name]
}

// Follow watches the way to the file as it is now. It is called before each look at the file, so
// that a change after the look is notified. It costs a few system calls for each element of the
// path. Each directory is watched before one of its entries is read, so that no change is missed
// between the two. A missing file or directory is not an error: its nearest directory is watched.
func (w *Watch) Follow() error {
	was := w.dirs
	w.entries, w.dirs = map[string]bool{}, map[string]bool{}
	err := w.walk(w.path)
	for dir := range was {
		if !w.dirs[dir] {
			_ = w.fs.Remove(dir) // it may have ended with its directory
		}
	}
	return err
}

// walk watches the entries on the way to path, which is absolute and clean.
func (w *Watch) walk(path string) error {
	root := filepath.VolumeName(path) + string(filepath.Separator)
	at, rest := root, strings.TrimPrefix(path, root)
	for links := 0; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, string(filepath.Separator))
		entry := filepath.Join(at, name)
		info, err := os.Lstat(entry)
		if last := rest == ""; last || err != nil || info.Mode()&os.ModeSymlink != 0 {
			if err := w.watch(at, entry); err != nil {
				return err
			}
			info, err = os.Lstat(entry)
		}
		if err != nil { // it may appear later
			return nil
		}
		if info.Mode()&os.ModeSymlink == 0 {
			at = entry
			continue
		}
		target, err := os.Readlink(entry)
		if err != nil {
			return nil
		}
		if links++; links > maxLinks {
			return errors.New("too many symbolic links")
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(at, target)
		}
		root = filepath.VolumeName(target) + string(filepath.Separator)
		at, rest = root, filepath.Join(strings.TrimPrefix(filepath.Clean(target), root), rest)
	}
	return nil
}

// watch watches an entry of a directory.
func (w *Watch) watch(dir, entry string) error {
	w.entries[entry] = true
	if w.dirs[dir] {
		return nil
	}
	if err := w.fs.Add(dir); err != nil {
		if errors.Is(err, os.ErrNotExist) { // it has just been removed
			return nil
		}
		return err
	}
	w.dirs[dir] = true
	return nil
}
