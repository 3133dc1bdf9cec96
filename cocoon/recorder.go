package cocoon

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/trace"
	"slices"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/notify"
)

// snapshotFunc is what policies call as call("snapshot").
const snapshotFunc = "cocoon.snapshot"

const (
	recordPrefix = "cocoon-"
	recordSuffix = ".trace"
)

// newRecorder starts the recorder, or returns nil if it is off.
func newRecorder(rt *Runtime) (*flightRecorder, error) {
	cfg := rt.cfg.FlightRecorder
	if cfg.Folder == "" {
		return nil, nil
	}
	if err := os.MkdirAll(cfg.Folder, 0o755); err != nil {
		return nil, fmt.Errorf("cocoon: Config.FlightRecorder: %w", err)
	}
	f := &flightRecorder{cfg: cfg, rt: rt, recorder: trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: cfg.Age, MaxBytes: uint64(cfg.Bytes)})}
	if err := f.recorder.Start(); err != nil {
		return nil, fmt.Errorf("cocoon: Config.FlightRecorder: %w; a process has at most one flight recorder", err)
	}
	return f, nil
}

// snapshot writes the last seconds to a file, on a goroutine of its own, unless a file was written
// shortly before. why is part of its name. It may be called under any lock; f may be nil.
func (f *flightRecorder) snapshot(why string) {
	if f == nil {
		return
	}
	now, next := notify.Now(), f.next.Load()
	if now < next || !f.next.CompareAndSwap(next, now+int64(f.cfg.Every)) {
		return
	}
	notify.Outside(func() { go f.write(why) })
}

// write writes a file, and puts it into the stream of decisions. The first error is logged.
func (f *flightRecorder) write(why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.recorder == nil { // stopped
		return
	}
	name, err := f.writeFile(why)
	if err == nil {
		f.rt.decisions.add(sortChange, &Decision{Kind: DecisionSnapshot, File: name, Reason: why})
		err = f.prune()
	}
	if err != nil && !f.failed.Swap(true) {
		f.rt.log.add(slog.LevelError, "cocoon: the flight recorder cannot write its files; this is logged once", "error", err.Error())
	}
}

// writeFile writes a file under another name first, so that no reader finds half of one.
func (f *flightRecorder) writeFile(why string) (name string, err error) {
	part, err := os.CreateTemp(f.cfg.Folder, ".part-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(part.Name())
	_, err = f.recorder.WriteTo(part)
	if closed := part.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return "", err
	}
	name = filepath.Join(f.cfg.Folder, recordPrefix+time.Now().UTC().Format("20060102T150405.000000")+"-"+why+recordSuffix)
	return name, os.Rename(part.Name(), name)
}

// prune removes all files but the newest.
func (f *flightRecorder) prune() error {
	entries, err := os.ReadDir(f.cfg.Folder) // sorted, and the names begin with the time
	if err != nil {
		return err
	}
	files := slices.DeleteFunc(entries, func(e os.DirEntry) bool {
		return !strings.HasPrefix(e.Name(), recordPrefix) || !strings.HasSuffix(e.Name(), recordSuffix)
	})
	for _, e := range files[:max(0, len(files)-f.cfg.Files)] {
		if err := os.Remove(filepath.Join(f.cfg.Folder, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// stop stops the recorder, after a write in progress. f may be nil.
func (f *flightRecorder) stop() {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.recorder != nil {
		f.recorder.Stop()
		f.recorder = nil
	}
}
