package filenotify

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func watch(t *testing.T, path string) *Watch {
	w, err := New(path)
	must(t, err)
	t.Cleanup(w.Close)
	must(t, w.Follow())
	return w
}

// notified waits for a notification about the file.
func (w *Watch) notified(t *testing.T, what string) {
	t.Helper()
	for end := time.After(20 * time.Second); ; {
		select {
		case note := <-w.Notes():
			if w.Drain(note) {
				return
			}
		case <-end:
			t.Fatalf("%s: no notification", what)
		}
	}
}

// quiet discards what is left, and checks that nothing of it is about the file.
func (w *Watch) quiet(t *testing.T, what string) {
	t.Helper()
	for {
		select {
		case note := <-w.Notes():
			if w.Drain(note) {
				t.Fatalf("%s: notified by %v", what, note)
			}
		case <-time.After(50 * time.Millisecond):
			return
		}
	}
}

// settle discards what is left of an earlier step.
func (w *Watch) settle() {
	for {
		select {
		case note := <-w.Notes():
			w.Drain(note)
		case <-time.After(50 * time.Millisecond):
			return
		}
	}
}

// TestChanges makes the changes of editors, programs and Kubernetes, one after the other. After
// each of them the watch follows the new way, and misses no later change.
func TestChanges(t *testing.T) {
	t.Parallel() // most of its time is a wait
	top := t.TempDir()
	at := func(elements ...string) string { return filepath.Join(append([]string{top}, elements...)...) }
	write := func(name, text string) { must(t, os.WriteFile(name, []byte(text), 0o600)) }
	must(t, os.MkdirAll(at("etc", "..1"), 0o700))
	must(t, os.MkdirAll(at("other"), 0o700))
	write(at("etc", "..1", "f"), "1")
	must(t, os.Symlink("..1", at("etc", "..data")))
	must(t, os.Symlink(filepath.Join("..data", "f"), at("etc", "f")))
	must(t, os.Symlink("etc", at("link")))
	w := watch(t, at("link", "f"))
	w.quiet(t, "nothing has changed")
	for _, step := range []struct {
		what string
		do   func()
	}{
		{"the file is written", func() { write(at("etc", "..1", "f"), "2") }},
		{"another file replaces it", func() {
			write(at("etc", "..1", "new"), "3")
			must(t, os.Rename(at("etc", "..1", "new"), at("etc", "..1", "f")))
		}},
		{"it is removed", func() { must(t, os.Remove(at("etc", "..1", "f"))) }},
		{"it is back", func() { write(at("etc", "..1", "f"), "4") }},
		{"a link on the way is replaced", func() {
			must(t, os.Mkdir(at("etc", "..2"), 0o700))
			write(at("etc", "..2", "f"), "5")
			must(t, os.Symlink("..2", at("etc", "tmp")))
			must(t, os.Rename(at("etc", "tmp"), at("etc", "..data")))
			must(t, os.RemoveAll(at("etc", "..1")))
		}},
		{"the new file is written", func() { write(at("etc", "..2", "f"), "6") }},
		{"the first link leads elsewhere", func() {
			write(at("other", "f"), "7")
			must(t, os.Symlink("other", at("tmp")))
			must(t, os.Rename(at("tmp"), at("link")))
		}},
		{"that file is written", func() { write(at("other", "f"), "8") }},
		{"its directory is renamed", func() { must(t, os.Rename(at("other"), at("away"))) }},
		{"the directory is made again", func() { must(t, os.Mkdir(at("other"), 0o700)) }},
		{"with the file", func() { write(at("other", "f"), "9") }},
	} {
		step.do()
		w.notified(t, step.what)
		w.settle()
		must(t, w.Follow())
	}
	write(at("etc", "..2", "f"), "nobody reads it")
	write(at("other", "g"), "a neighbour")
	w.quiet(t, "other files have changed")
}

// TestBusyDirectory: a directory with more changes than the watch and the kernel keep hides no
// change of the file.
func TestBusyDirectory(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	w := watch(t, path)
	for i := range 10 * buffered {
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprint("n", i%7)), []byte{byte(i)}, 0o600))
	}
	must(t, os.WriteFile(path, nil, 0o600))
	w.notified(t, "the file is made")
}

// TestBehindNeighbours: a change that stands behind many others is not waited for.
func TestBehindNeighbours(t *testing.T) {
	dir := t.TempDir()
	w := watch(t, filepath.Join(dir, "f"))
	for i := range 10 * buffered {
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprint("n", i%7)), []byte{byte(i)}, 0o600))
	}
	for end := time.Now().Add(20 * time.Second); len(w.fs.Events) < buffered && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if !w.Drain(<-w.Notes()) {
		t.Error("what has not been read is not about the file")
	}
}

// TestLog: a log that is written all the time brings few notifications, although each of them alone
// would be read.
func TestLog(t *testing.T) {
	t.Parallel() // most of its time is a wait
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	w := watch(t, path)
	log, err := os.Create(filepath.Join(dir, "log"))
	must(t, err)
	defer log.Close()
	for range 500 {
		_, err := log.WriteString("a line\n")
		must(t, err)
		time.Sleep(100 * time.Microsecond)
	}
	for n := 0; ; n++ {
		select {
		case <-w.Notes():
			if n == 100 {
				t.Fatal("more than 100 notifications")
			}
			continue
		case <-time.After(100 * time.Millisecond):
		}
		break
	}
}

// TestLoop: links that lead nowhere end the walk.
func TestLoop(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	must(t, os.Symlink("f", path))
	w, err := New(path)
	must(t, err)
	defer w.Close()
	if err := w.Follow(); err == nil || !strings.Contains(err.Error(), "too many symbolic links") {
		t.Errorf("%v", err)
	}
}

// TestMissing: a file whose directories do not exist yet is noticed when they appear.
func TestMissing(t *testing.T) {
	top := t.TempDir()
	w := watch(t, filepath.Join(top, "a", "b", "f"))
	must(t, os.Mkdir(filepath.Join(top, "a"), 0o700))
	w.notified(t, "the first directory")
	must(t, w.Follow())
	must(t, os.Mkdir(filepath.Join(top, "a", "b"), 0o700))
	w.notified(t, "the second directory")
	must(t, w.Follow())
	must(t, os.WriteFile(filepath.Join(top, "a", "b", "f"), nil, 0o600))
	w.notified(t, "the file")
}

// TestNil: without a watch there are no notifications.
func TestNil(t *testing.T) {
	var w *Watch
	w.Close()
	if w.Notes() != nil || w.Lost() != nil {
		t.Error("a nil watch has channels")
	}
}
