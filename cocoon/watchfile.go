package cocoon

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/cocoon-go/cocoon/internal/filenotify"
	"github.com/cocoon-go/cocoon/notify"
)

// WatchPolicyFile loads a document as LoadPolicyFile does, and returns the error of that. Until ctx
// ends, or Shutdown begins to stop the runtime, it then loads the file again when its content
// changes, and when the process gets one of the signals (syscall.SIGHUP, where operators expect
// it).
//
// A reload that fails changes nothing: the content that was loaded last stays in force. The same
// holds if the file is deleted, unreadable, empty, or no regular file. The stream of decisions
// (DecisionDocumentRefused), an Error line in the log and Stats.Documents then tell so. The watch
// continues, and loads the next content.
//
// The watch follows symbolic links, so it notices when Kubernetes updates a ConfigMap. It loads a
// file that has been left alone for 0.1 s, or is being written for 5 s. A program that writes the
// file in pieces, with longer pauses, may have a part of it loaded. To prevent that, write another
// file, and rename it.
//
// Notifications of the file system tell the watch of a change, which takes effect within half a
// second. They miss changes by other machines to a network file system, and a directory above the
// file that is renamed: the watch notices these within 10 s. While the system has no notifications,
// or refuses more of them, the watch looks at the file's metadata once a second, asks again every
// 10 s, and the log says so. The watch costs two goroutines, which sleep while nothing changes in
// the directory of the file. Other files written there all the time cost half a percent of a
// processor. WatchPolicyFile returns an error for a file already watched.
func (rt *Runtime) WatchPolicyFile(ctx context.Context, name string, signals ...os.Signal) error {
	return rt.watchFile(ctx, name, filePace, signals)
}

// watchFile is WatchPolicyFile with other times between looks at the file.
func (rt *Runtime) watchFile(ctx context.Context, name string, pace watchPace, signals []os.Signal) error {
	path, err := filepath.Abs(name)
	if err != nil {
		return fmt.Errorf("cocoon: %w", err)
	}
	w := &fileWatch{watching: &watching{ctx}, over: doneOutside(ctx), rt: rt, name: name, path: path, pace: pace}
	if !rt.beginWatch(path, w.watching) {
		return fmt.Errorf("cocoon: WatchPolicyFile(%q): the file is being watched already; end the context of the first call before", name)
	}
	notify.Outside(func() { err = w.start(path, signals) })
	return err
}

// start loads the file, and starts the watch, outside of any bubble of testing/synctest: it waits
// for the file system and the runtime, in real time, and the bubble's time would stand still.
func (w *fileWatch) start(path string, signals []os.Signal) error {
	w.follow(path)
	before := lookAt(path) // a change during the load is noticed
	if _, _, err := w.rt.loadPolicyFile(w.name, true, func(string, textSum) bool { return true }); err != nil {
		w.notes.Close()
		w.rt.endWatch(path, w.watching)
		return err
	}
	w.begin(before, time.Now())
	if len(signals) > 0 {
		w.signals = make(chan os.Signal, 1)
		signal.Notify(w.signals, signals...)
	}
	go func() {
		defer w.rt.endWatch(path, w.watching)
		defer signal.Stop(w.signals)
		defer func() { w.notes.Close() }() // not the first one: follow may have replaced it
		w.run(path)
	}()
	return nil
}

// doneOutside returns a channel that is closed when ctx ends, and that may be used outside the
// caller's bubble.
func doneOutside(ctx context.Context) <-chan struct{} {
	if !notify.Bubbled() {
		return ctx.Done()
	}
	var done chan struct{}
	notify.Outside(func() { done = make(chan struct{}) })
	context.AfterFunc(ctx, func() { close(done) })
	return done
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

// watchPace is the times between two looks at a file that does not change.
type watchPace struct {
	unnotified time.Duration
	// with notifications, and between two requests for them; 0: do not ask for notifications
	notified time.Duration
}

var filePace = watchPace{unnotified: time.Second, notified: 10 * time.Second}

// fileWatch loads a file whenever it has changed. Its goroutine owns it.
type fileWatch struct {
	glances
	pace watchPace
	*watching
	over    <-chan struct{} // closed when the context ends
	rt      *Runtime
	name    string
	path    string            // absolute
	notes   *filenotify.Watch // nil: there are none
	asked   time.Time         // when the watch last asked for them
	without bool              // the log says that there are none
	signals chan os.Signal    // nil: none
	refused *textSum          // the text that was refused last; nil: the last one was accepted
}

// follow arms the notifications for the next change of the file, before a look at it. If there are
// none, it asks for them from time to time.
func (w *fileWatch) follow(path string) {
	w.every = w.pace.unnotified
	if w.pace.notified == 0 {
		return
	}
	err := w.notify(path)
	if w.notes == nil && err == nil {
		return // it is too early to ask again
	}
	if err != nil {
		w.notes.Close()
		w.notes = nil
	} else {
		w.every = w.pace.notified
	}
	if without := err != nil; without != w.without {
		w.without = without
		w.tellNotified(err)
	}
}

// notify asks for notifications if there are none and the last request was long ago, and follows
// the way to the file.
func (w *fileWatch) notify(path string) (err error) {
	if w.notes == nil {
		now := time.Now()
		if now.Sub(w.asked) < w.pace.notified {
			return nil
		}
		w.asked = now
		if w.notes, err = filenotify.New(path); err != nil {
			return err
		}
	}
	return w.notes.Follow()
}

// tellNotified logs that notifications have ended, because of err, or that there are some again.
func (w *fileWatch) tellNotified(err error) {
	if err == nil {
		w.rt.log.add(slog.LevelInfo, "cocoon: notifications of changes to the document again", "file", w.name)
		return
	}
	w.rt.log.add(slog.LevelInfo, "cocoon: no notifications of changes to the document; looks at it instead", "file", w.name, "every", w.pace.unnotified, "err", err)
}

// run watches until its context ends, or the runtime does. A notification is a reason for a look,
// and the looks decide. After each notification it lets settleTime pass, so that a directory with
// many changes wakes it rarely.
func (w *fileWatch) run(path string) {
	look, pause := time.NewTimer(w.next), time.NewTimer(0)
	defer look.Stop()
	defer pause.Stop()
	due := time.Now().Add(w.next)
	lookIn := func(d time.Duration) {
		due = time.Now().Add(d)
		look.Reset(d)
	}
	for paused := false; ; {
		notes := w.notes.Notes() // none after they have ended
		if paused {
			notes = nil
		}
		select {
		case <-w.over:
			return
		case <-w.rt.ctx.Done():
			return
		case <-w.signals:
			_, _, err := w.rt.loadPolicyFile(w.name, true, func(string, textSum) bool { return true })
			w.tell(err)
		case note := <-notes:
			if w.notes.Drain(note) && time.Until(due) > settleTime {
				lookIn(settleTime)
			}
			paused = true
			pause.Reset(settleTime)
		case <-w.notes.Lost():
			lookIn(settleTime)
		case <-pause.C:
			paused = false
		case <-look.C:
			w.follow(path)
			if w.shouldRead(lookAt(path), time.Now()) {
				w.load()
			}
			lookIn(w.next)
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
	w.rt.log.add(slog.LevelInfo, "cocoon: document changed and was loaded", "file", w.name, "changes", w.rt.lastChanges(w.path))
}
