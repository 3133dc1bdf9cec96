package cocoon

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"time"
)

// WatchPolicyFile loads a document as LoadPolicyFile does, and returns the error of that. Until ctx
// ends, or Shutdown begins to stop the runtime, it then loads the file again when its content
// changes, and when the process gets one of the signals (syscall.SIGHUP, where operators expect
// it).
//
// A reload that fails changes nothing: the content that was loaded last stays in force. The same
// holds if the file is deleted, unreadable, empty, or no regular file. The stream of decisions
// (DecisionDocumentRefused), an Error line in the log and Stats.Documents then tell so. The watch
// goes on, and loads the next content.
//
// The watch follows symbolic links, so it notices when Kubernetes updates a ConfigMap. It loads a
// file that has been left alone for 0.1 s, or is being written for 5 s. A program that writes the
// file in pieces, with longer pauses, may have a part of it loaded. To prevent that, write another
// file, and rename it.
//
// A change is noticed within a second. The watch costs one goroutine, which reads the file's
// metadata once a second, in a few microseconds. WatchPolicyFile returns an error for a file that
// is being watched.
func (rt *Runtime) WatchPolicyFile(ctx context.Context, name string, signals ...os.Signal) error {
	return rt.watchFile(ctx, name, glanceEvery, signals)
}

// watchFile is WatchPolicyFile with another time between two looks at the file.
func (rt *Runtime) watchFile(ctx context.Context, name string, every time.Duration, signals []os.Signal) error {
	path, err := filepath.Abs(name)
	if err != nil {
		return fmt.Errorf("cocoon: %w", err)
	}
	w := &fileWatch{watching: &watching{ctx}, rt: rt, name: name, glances: glances{every: every}}
	if !rt.beginWatch(path, w.watching) {
		return fmt.Errorf("cocoon: WatchPolicyFile(%q): the file is being watched already; end the context of the first call before", name)
	}
	before := lookAt(path) // a change during the load is noticed
	if _, _, err := rt.loadPolicyFile(name, true, func(string, textSum) bool { return true }); err != nil {
		rt.endWatch(path, w.watching)
		return err
	}
	w.begin(before, time.Now())
	if len(signals) > 0 {
		w.signals = make(chan os.Signal, 1)
		signal.Notify(w.signals, signals...)
	}
	go func() {
		defer rt.endWatch(path, w.watching)
		defer signal.Stop(w.signals)
		w.run(path)
	}()
	return nil
}

// beginWatch makes w the watch of the file, and reports false if the file has one. A watch whose
// context has ended is none, although its goroutine may not have noticed yet.
func (rt *Runtime) beginWatch(path string, w *watching) bool {
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	if was := rt.watched[path]; was != nil && was.ctx.Err() == nil {
		return false
	}
	if rt.watched == nil {
		rt.watched = map[string]*watching{}
	}
	rt.watched[path] = w
	return true
}

// endWatch forgets w, unless the file has another watch by now.
func (rt *Runtime) endWatch(path string, w *watching) {
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	if rt.watched[path] == w {
		delete(rt.watched, path)
	}
}

// fileWatch loads a file whenever it has changed. Its goroutine owns it.
type fileWatch struct {
	glances
	*watching
	rt      *Runtime
	name    string
	signals chan os.Signal // nil: none
	refused *textSum       // the text that was refused last; nil: the last one was accepted
}

// run watches until its context ends, or the runtime does. Notifications of the file system, with
// polling where it has none, were rejected: they need a watch on each directory on the way to the
// file, and a wait for its end to be written anyway, and network file systems send none.
func (w *fileWatch) run(path string) {
	timer := time.NewTimer(w.next)
	defer timer.Stop()
	for {
		select {
		case <-w.ctx.Done():
			return
		case <-w.rt.ctx.Done():
			return
		case <-w.signals:
			_, _, err := w.rt.loadPolicyFile(w.name, true, func(string, textSum) bool { return true })
			w.tell(err)
		case <-timer.C:
			if w.look(lookAt(path), time.Now()) {
				w.load()
			}
			timer.Reset(w.next)
		}
	}
}

// load loads the file, unless its content is in force, or was refused before.
func (w *fileWatch) load() {
	text, loaded, err := w.rt.loadPolicyFile(w.name, true, func(path string, text textSum) bool {
		return !w.rt.inForce(path, text) && (w.refused == nil || *w.refused != text)
	})
	if !loaded {
		return
	}
	if w.refused = nil; err != nil {
		w.refused = &text
	}
	w.tell(err)
}

// tell logs what has become of a reload.
func (w *fileWatch) tell(err error) {
	if err != nil {
		w.rt.log.add(slog.LevelError, "cocoon: document changed and was refused; its last content stays in force", "file", w.name, "err", err)
		return
	}
	w.rt.log.add(slog.LevelInfo, "cocoon: document changed and was loaded", "file", w.name)
}
