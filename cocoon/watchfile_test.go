package cocoon

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// watched is a runtime that watches a file.
type watched struct {
	t    *testing.T
	rt   *Runtime
	name string
	log  journal
}

// watchedText is a document with one policy of that name.
func watchedText(policy string) string {
	return "version: 1\npolicies: [{name: " + policy + ", on: start, expr: 'task.running > duration(\"1s\") ? throw(\"x\") : continue()'}]\n"
}

func newWatched(t *testing.T, name string, pace watchPace, signals ...os.Signal) *watched {
	w := &watched{t: t, name: name}
	w.rt = start(t, Config{Logger: w.log.logger()})
	must(t, w.rt.watchFile(t.Context(), name, pace, signals))
	return w
}

// watchPaces are a watch that only looks, and one that would come too late without notifications.
var watchPaces = map[string]watchPace{
	"looking":  {unnotified: 20 * time.Millisecond},
	"notified": {unnotified: time.Hour, notified: time.Hour},
}

// until waits until ok holds. Unlike eventually it sleeps, because the watch does.
func (w *watched) until(what string, ok func() bool) {
	w.t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("%s: not within %v; %+v\n%s", what, patience, w.stats(), w.log.String())
		}
	}
}

// has waits until the policy is in force.
func (w *watched) has(policy string) {
	w.t.Helper()
	w.until("policy "+policy+" in force", func() bool { return w.rt.Policy(policy) != nil })
}

func (w *watched) stats() DocumentStats { return w.rt.Stats().Documents[w.name] }

// replace writes a file as careful programs do.
func replace(t *testing.T, name, text string) {
	must(t, os.WriteFile(name+".new", []byte(text), 0o600))
	must(t, os.Rename(name+".new", name))
}

// TestWatchPolicyFile edits a watched file in the ways of editors, programs and Kubernetes.
func TestWatchPolicyFile(t *testing.T) {
	t.Parallel() // most of its time is a wait
	for name, pace := range watchPaces {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testWatch(t, pace)
		})
	}
}

func testWatch(t *testing.T, pace watchPace) {
	t.Run("editors", func(t *testing.T) {
		t.Parallel()
		name := filepath.Join(t.TempDir(), "p.yaml")
		must(t, os.WriteFile(name, []byte(watchedText("a")), 0o600))
		w := newWatched(t, name, pace)
		w.has("a")
		must(t, os.WriteFile(name, []byte(watchedText("b")), 0o600)) // of the same size
		w.has("b")
		if w.rt.Policy("a") != nil {
			t.Error("policy a is still in force")
		}
		must(t, os.Rename(name, name+"~")) // vi's backup
		must(t, os.WriteFile(name, []byte(watchedText("c")), 0o600))
		w.has("c")
		replace(t, name, watchedText("d"))
		w.has("d")
		w.until("four loads", func() bool { return w.stats().Loads == 4 })
		if st := w.stats(); st.Refusals != 0 || st.Stale != "" {
			t.Errorf("%+v", st)
		}
	})
	t.Run("faults", func(t *testing.T) {
		t.Parallel()
		name := filepath.Join(t.TempDir(), "p.yaml")
		must(t, os.WriteFile(name, []byte(watchedText("a")), 0o600))
		w := newWatched(t, name, pace)
		loaded := w.stats().Loaded
		for i, text := range []string{"version: 1\npolicies: [{name: a", "", strings.Replace(watchedText("a"), "duration", "duratoin", 1)} {
			replace(t, name, text)
			w.until("refusal", func() bool { return w.stats().Refusals == int64(i+1) })
		}
		must(t, os.Remove(name))
		w.until("refusal", func() bool { return strings.Contains(w.stats().Stale, "no such file") })
		if st := w.stats(); w.rt.Policy("a") == nil || st.Loads != 1 || st.Loaded != loaded {
			t.Errorf("the last good document is no longer in force: %+v", st)
		}
		w.until("four lines about refusals", func() bool { return w.log.count("document changed and was refused") == 4 })
		refused := 0
		r := w.rt.Decisions(0)
		for range 1 + 1 + 4 {
			d, err := r.Next(t.Context())
			must(t, err)
			if d.Kind == DecisionDocumentRefused && d.File == name {
				refused++
			}
		}
		if refused != 4 {
			t.Errorf("%d refusals among the decisions", refused)
		}
		replace(t, name, watchedText("a")) // what is in force
		w.until("the file is not stale", func() bool { return w.stats().Stale == "" })
	})
	t.Run("ConfigMap", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		version := func(n int, policy string) {
			must(t, os.Mkdir(filepath.Join(dir, fmt.Sprint("..", n)), 0o700))
			must(t, os.WriteFile(filepath.Join(dir, fmt.Sprint("..", n), "p.yaml"), []byte(watchedText(policy)), 0o600))
			must(t, os.Symlink(fmt.Sprint("..", n), filepath.Join(dir, "..data_tmp")))
			must(t, os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
			if n > 1 {
				must(t, os.RemoveAll(filepath.Join(dir, fmt.Sprint("..", n-1))))
			}
		}
		version(1, "a")
		name := filepath.Join(dir, "p.yaml")
		must(t, os.Symlink("..data/p.yaml", name))
		w := newWatched(t, name, pace)
		version(2, "b")
		w.has("b")
		version(3, "c")
		w.has("c")
		const changes = `changes="[- policy \"b\" + policy \"c\"]"`
		w.until("a line with the changes", func() bool { return strings.Contains(w.log.String(), changes) })
	})
	t.Run("written in pieces", func(t *testing.T) {
		t.Parallel()
		name := filepath.Join(t.TempDir(), "p.yaml")
		must(t, os.WriteFile(name, []byte(watchedText("a")), 0o600))
		w := newWatched(t, name, pace)
		f, err := os.Create(name)
		must(t, err)
		longest, last := time.Duration(0), time.Now()
		for _, line := range strings.SplitAfter(watchedText("b"), " ") {
			_, err := f.WriteString(line)
			must(t, err)
			time.Sleep(20 * time.Millisecond)
			longest, last = max(longest, time.Since(last)), time.Now()
		}
		must(t, f.Close())
		w.has("b")
		// On a crowded machine the writer may pause for as long as a file takes to settle.
		if st := w.stats(); st.Refusals != 0 && longest < settleTime/2 {
			t.Errorf("a part was read, with pauses of at most %v: %+v", longest, st)
		}
	})
}

// TestWatchFallsBack: when notifications end, the watch says so, and looks at the file instead.
func TestWatchFallsBack(t *testing.T) {
	t.Parallel() // most of its time is a wait
	name := filepath.Join(t.TempDir(), "p.yaml")
	must(t, os.WriteFile(name, []byte(watchedText("a")), 0o600))
	w := newWatched(t, name, watchPace{unnotified: 20 * time.Millisecond, notified: time.Hour})
	must(t, os.Symlink("p.yaml", name+".new")) // a circle of links cannot be followed
	must(t, os.Rename(name+".new", name))
	w.until("a line", func() bool { return w.log.count("no notifications of changes") == 1 })
	w.until("a refusal", func() bool { return w.stats().Stale != "" })
	must(t, os.Remove(name))
	must(t, os.WriteFile(name, []byte(watchedText("b")), 0o600))
	w.has("b")
}

// TestWatchFallsBackUnnotified: a look finds by itself that notifications end.
func TestWatchFallsBackUnnotified(t *testing.T) {
	t.Parallel() // most of its time is a wait
	above := filepath.Join(t.TempDir(), "above")
	name := filepath.Join(above, "etc", "p.yaml")
	must(t, os.MkdirAll(filepath.Dir(name), 0o700))
	must(t, os.WriteFile(name, []byte(watchedText("a")), 0o600))
	w := newWatched(t, name, watchPace{unnotified: 20 * time.Millisecond, notified: 50 * time.Millisecond})
	must(t, os.Rename(above, above+".old")) // of which nothing tells
	must(t, os.Symlink("above", above))
	w.until("a line", func() bool { return w.log.count("no notifications of changes") == 1 })
	must(t, os.Remove(above))
	must(t, os.MkdirAll(filepath.Dir(name), 0o700))
	must(t, os.WriteFile(name, []byte(watchedText("b")), 0o600))
	w.has("b")
	w.until("notifications again", func() bool { return w.log.count("notifications of changes to the document again") == 1 })
	if n := w.log.count("no notifications of changes"); n != 1 {
		t.Errorf("%d lines that notifications have ended", n)
	}
}

// TestWatchEnds: a watch ends with its context or its runtime, and a file has one watch.
func TestWatchEnds(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "p.yaml")
	rt := start(t, Config{})
	if err := rt.WatchPolicyFile(t.Context(), name); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a missing file: %v", err)
	}
	if all := rt.Stats().Documents; len(all) != 0 {
		t.Errorf("a file that was never loaded is listed: %+v", all)
	}
	must(t, os.WriteFile(name, []byte(watchedText("a")), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	must(t, rt.WatchPolicyFile(ctx, name))
	if err := rt.WatchPolicyFile(ctx, name); err == nil || !strings.Contains(err.Error(), "is being watched already") {
		t.Errorf("a second watch: %v", err)
	}
	cancel()
	eventually(t, "the watch has ended", func() bool { return rt.WatchPolicyFile(t.Context(), name) == nil })
	must(t, rt.Shutdown(t.Context())) // the harness finds goroutines that are left
}

// TestWatchAgain: when the context of a watch has ended, the file may be watched again at once.
func TestWatchAgain(t *testing.T) {
	name := filepath.Join(t.TempDir(), "p.yaml")
	must(t, os.WriteFile(name, []byte(watchedText("a")), 0o600))
	rt := start(t, Config{})
	for i := range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		err := rt.watchFile(ctx, name, filePace, nil)
		cancel()
		if err != nil {
			t.Fatalf("watch %d: %v", i, err)
		}
	}
	must(t, rt.watchFile(t.Context(), name, filePace, nil))
	eventually(t, "the ended watches are gone", func() bool { return watchesRunning() == 1 })
	if err := rt.WatchPolicyFile(t.Context(), name); err == nil {
		t.Error("the end of an earlier watch has ended the last one")
	}
	must(t, rt.Shutdown(t.Context()))
}

// TestWatchInABubble: the time of a bubble of testing/synctest goes on while a file is watched, the
// file is loaded in real time, and the end of the bubble's context ends the watch.
func TestWatchInABubble(t *testing.T) {
	name := filepath.Join(t.TempDir(), "p.yaml")
	must(t, os.WriteFile(name, []byte(watchedText("a")), 0o600))
	rt := start(t, Config{})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		must(t, rt.watchFile(ctx, name, filePace, []os.Signal{os.Interrupt}))
		time.Sleep(time.Duration(longtest.Count(60, 5)) * time.Minute)
		replace(t, name, watchedText("b"))
		eventually(t, "policy b in force", func() bool { return rt.Policy("b") != nil })
		cancel()
		synctest.Wait()
	})
	eventually(t, "the watch has ended", func() bool { return watchesRunning() == 0 })
}

// watchesRunning returns how many goroutines of the process watch a file.
func watchesRunning() int {
	stacks := make([]byte, 1<<20)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "(*fileWatch).run(")
}
