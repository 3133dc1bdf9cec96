package cocoon

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"testing"
	"time"
)

// filesIn returns the names of the files in a folder.
func filesIn(t testing.TB, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	must(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A stall and a policy's call write the last seconds to files, not more often than Every, and only
// the newest files stay. Other files in the folder are left alone.
func TestFlightRecorder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "flights")
	rt := start(t, Config{Slots: 1, StallAfter: time.Millisecond, FlightRecorder: FlightRecorder{Folder: folder, Files: 2, Every: time.Nanosecond}})
	if _, err := New(Config{FlightRecorder: FlightRecorder{Folder: folder}}); err == nil || !strings.Contains(err.Error(), "Config.FlightRecorder") {
		t.Errorf("a second flight recorder: %v", err)
	}
	must(t, os.WriteFile(filepath.Join(folder, "other"), nil, 0o600))
	decisions := rt.Decisions(0)
	release := taken(t, rt.Loop())
	waits := rt.Go(background, "waits", idle)
	d := next(t, decisions, DecisionSnapshot)
	if !strings.HasSuffix(d.File, "-stall.trace") || d.Reason != "stall" {
		t.Errorf("%+v", d)
	}
	text, err := os.ReadFile(d.File)
	must(t, err)
	for _, want := range []string{"cocoon task holder", `stall task "holder"`, "cocoon running"} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("the file has no %s", want)
		}
	}
	release()
	must(t, waits.Wait(background))
	register(t, rt, Policy{Name: "asks", On: OnNotify("now"), Expr: `call("snapshot")`})
	for range 3 {
		rt.Notify("now", 1)
		d = next(t, decisions, DecisionSnapshot)
		eventually(t, "the call to end", func() bool { return rt.funcs[snapshotFunc].since.Load() == 0 })
	}
	rt.recorder.mu.Lock() // the last file has pruned the rest
	files := filesIn(t, folder)
	rt.recorder.mu.Unlock()
	if len(files) != 3 || files[1] != filepath.Base(d.File) || files[2] != "other" {
		t.Errorf("the folder has %v; the last file is %s", files, d.File)
	}
	must(t, rt.Shutdown(background))
	rt.recorder.snapshot("late") // is ignored
	again := start(t, Config{FlightRecorder: FlightRecorder{Folder: folder}})
	must(t, again.Shutdown(background))
}

// A recorder that cannot write says so once, and delays no task.
func TestFlightRecorderWithoutFolder(t *testing.T) {
	var log journal
	folder := filepath.Join(t.TempDir(), "flights")
	rt := start(t, Config{Logger: log.logger(), FlightRecorder: FlightRecorder{Folder: folder, Every: time.Nanosecond}})
	must(t, os.RemoveAll(folder))
	for range 3 {
		rt.recorder.write("test")
	}
	must(t, rt.Run(background, "task", idle))
	rt.log.flush()
	if n := log.count("flight recorder cannot write"); n != 1 {
		t.Errorf("%d lines:\n%s", n, log.String())
	}
	for _, cfg := range []FlightRecorder{{Files: 3}, {Folder: folder, Age: -1}} {
		if _, err := New(Config{FlightRecorder: cfg}); err == nil {
			t.Errorf("%+v is taken", cfg)
		}
	}
}

// Traces show queued, running and suspended tasks, and the regions of a task that ends in any way
// are closed. Without Config.Trace there are none.
func TestTrace(t *testing.T) {
	if trace.IsEnabled() {
		t.Skip("the test is being traced")
	}
	for _, on := range []bool{true, false} {
		rt := start(t, Config{Slots: 1, Trace: on})
		must(t, rt.RegisterPreemptibleFunc("scan"))
		must(t, rt.RegisterSafeFunc("get"))
		must(t, rt.RegisterSafeFunc("inner"))
		_, err := rt.RegisterDefaultPreemption(OnEnqueue)
		must(t, err)
		var file bytes.Buffer
		must(t, trace.Start(&file))
		end := make(chan struct{})
		scan := begun(t, rt.Loop(), background, "scan", func(ctx context.Context) error { spin(ctx, end); return nil })
		must(t, rt.Run(background, "get", func(ctx context.Context) error { return rt.Run(ctx, "inner", idle) }))
		close(end)
		must(t, scan.Wait(background))
		rt.Go(background, "goexit", func(context.Context) error { runtime.Goexit(); return nil }).Wait(background)
		trace.Stop()
		for _, want := range []string{"cocoon task scan", "cocoon task get", "cocoon task inner", traceQueued, traceRunning, traceSuspended} {
			if has := bytes.Contains(file.Bytes(), []byte(want)); has != on {
				t.Errorf("Trace %v: the trace has %s: %v", on, want, has)
			}
		}
	}
}

// Profile labels name the task, the innermost of nested ones, and its tenant, and leave the labels
// of the program.
func TestProfileLabels(t *testing.T) {
	rt := start(t, Config{ProfileLabels: true})
	must(t, rt.RegisterTenants(Tenants{Label: "who"}))
	labels := func() string {
		var b bytes.Buffer
		must(t, pprof.Lookup("goroutine").WriteTo(&b, 1))
		for group := range strings.SplitSeq(b.String(), "\n\n") {
			if strings.Contains(group, "TestProfileLabels") {
				_, text, _ := strings.Cut(group, "# labels: ")
				text, _, _ = strings.Cut(text, "\n")
				return text
			}
		}
		return "no stack"
	}
	pprof.Do(background, pprof.Labels("own", "x"), func(ctx context.Context) {
		must(t, rt.Run(WithLabel(ctx, "who", "ann"), "outer", func(ctx context.Context) error {
			if got := labels(); got != `{"cocoon.task":"outer", "cocoon.tenant":"ann", "own":"x"}` {
				t.Errorf("outside: %s", got)
			}
			must(t, rt.Run(ctx, "inner", func(context.Context) error {
				if got := labels(); got != `{"cocoon.task":"inner", "cocoon.tenant":"ann", "own":"x"}` {
					t.Errorf("inside: %s", got)
				}
				return nil
			}))
			if got := labels(); got != `{"cocoon.task":"outer", "cocoon.tenant":"ann", "own":"x"}` {
				t.Errorf("afterwards: %s", got)
			}
			return nil
		}))
		if got := labels(); got != `{"own":"x"}` {
			t.Errorf("after the task: %s", got)
		}
	})
}
