//go:build unix

package cocoon

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// TestWatchSignal: a signal loads the file, even if its metadata are as before.
func TestWatchSignal(t *testing.T) {
	name := filepath.Join(t.TempDir(), "p.yaml")
	must(t, os.WriteFile(name, []byte(watchedText("a")), 0o600))
	w := newWatched(t, name, watchPaces["notified"], syscall.SIGHUP)
	must(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	w.until("another load", func() bool { return w.stats().Loads == 2 })
}

// TestWatchUnderLoad reloads a file a thousand times while tasks arrive and the watch looks at it.
func TestWatchUnderLoad(t *testing.T) {
	name := filepath.Join(t.TempDir(), "p.yaml")
	must(t, os.WriteFile(name, []byte(watchedText("a")), 0o600))
	w := newWatched(t, name, watchPaces["notified"], syscall.SIGHUP)
	ctx, cancel := context.WithCancel(t.Context())
	var load sync.WaitGroup
	for range 4 {
		load.Go(func() {
			for ctx.Err() == nil {
				w.rt.Run(ctx, "task", func(ctx context.Context) error { SafePoint(ctx); return nil })
			}
		})
	}
	for i := range longtest.Count(1000, 20) {
		replace(t, name, watchedText([]string{"a", "b"}[i%2]))
		before := w.stats()
		must(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
		w.until("another load", func() bool { return w.stats().Loads > before.Loads })
	}
	cancel()
	load.Wait()
	if st := w.stats(); st.Refusals != 0 {
		t.Errorf("%+v", st)
	}
}

// TestWatchPipe: a watch does not wait for the writer of a pipe. The wait would have no end, and
// other documents could not be loaded meanwhile.
func TestWatchPipe(t *testing.T) {
	t.Parallel() // most of its time is a wait
	name := filepath.Join(t.TempDir(), "p.yaml")
	must(t, syscall.Mkfifo(name, 0o600))
	rt := start(t, Config{})
	if err := rt.WatchPolicyFile(t.Context(), name); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a pipe: %v", err)
	}
	must(t, os.Remove(name))
	must(t, os.WriteFile(name, []byte(watchedText("a")), 0o600))
	w := newWatched(t, name, watchPaces["notified"])
	must(t, os.Remove(name))
	must(t, syscall.Mkfifo(name, 0o600))
	w.until("the pipe is refused", func() bool { return strings.Contains(w.stats().Stale, "not a regular file") })
	must(t, os.Remove(name))
	must(t, os.WriteFile(name, []byte(watchedText("b")), 0o600))
	w.has("b")
}
