package cocoon

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// handler is a slog.Handler that calls one function for each line, and one for each call of
// Enabled.
type handler struct {
	wants func() bool
	each  func(slog.Record)
}

func (h handler) Enabled(context.Context, slog.Level) bool { return h.wants == nil || h.wants() }
func (h handler) Handle(_ context.Context, r slog.Record) error {
	h.each(r)
	return nil
}
func (h handler) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h handler) WithGroup(string) slog.Handler      { return h }

// stderrOf returns what do writes to standard error.
func stderrOf(t *testing.T, do func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	must(t, err)
	was := os.Stderr
	os.Stderr = w
	defer func() { os.Stderr = was }()
	do()
	os.Stderr = was
	must(t, w.Close())
	text, err := io.ReadAll(r)
	must(t, err)
	return string(text)
}

// throwsAsAnother runs a task that turns a throw into another panic. A line is logged while the
// task holds its slot.
func throwsAsAnother(t *testing.T, l *Loop) {
	t.Helper()
	pe := preemption(t, l.Run(background, "job", func(ctx context.Context) error {
		defer func() { recover(); panic(errors.New("another")) }()
		TaskOf(ctx).Cancel()
		return spinForever(ctx)
	}))
	if !errors.Is(pe, ErrCancelled) || pe.Panic() == nil {
		t.Errorf("the task ended with %v", pe)
	}
}

// Whatever the Logger does, no slot is lost (invariant 5), tasks end as they do with a correct
// Logger, and the program goes on.
func TestLoggerThatMisbehaves(t *testing.T) {
	fail := map[string]func(){
		"panics": func() { panic("the logger is broken") },
		"exits":  runtime.Goexit,
	}
	for name, does := range fail {
		for where, h := range map[string]handler{
			"in Handle":  {each: func(slog.Record) { does() }},
			"in Enabled": {wants: func() bool { does(); return true }},
		} {
			t.Run(name+" "+where, func(t *testing.T) {
				text := stderrOf(t, func() {
					rt := start(t, Config{Slots: 1, Logger: slog.New(h)})
					l, err := rt.NewLoop(LoopConfig{Name: "exclusive", Exclusive: true})
					must(t, err)
					for _, l := range []*Loop{rt.Loop(), l} {
						throwsAsAnother(t, l)
						throwsAsAnother(t, l)
						var p *PanicError
						if err := l.Go(background, "panics", func(context.Context) error { panic("own") }).Wait(background); !errors.As(err, &p) || p.Value != "own" {
							t.Errorf("the task ended with %v", err)
						}
						within(t, "the next task", func() { must(t, l.Run(background, "next", idle)) })
					}
					rt.log.flush()
					checkFree(t, rt)
					if n := rt.Stats().LinesLost; n != 6 {
						t.Errorf("%d lines are lost; want 6", n)
					}
				})
				if n := strings.Count(text, "Config.Logger panicked"); n != 1 {
					t.Errorf("standard error has %d lines about it; want 1:\n%s", n, text)
				}
			})
		}
	}
}

// A Logger that blocks delays neither tasks nor the timer, and Shutdown only for a bounded time.
// Dropped lines are counted, and the line with the count comes at their place.
func TestLoggerThatBlocks(t *testing.T) {
	t.Parallel() // most of its time is a wait
	gate, blocked := make(chan struct{}), make(chan struct{})
	var texts []string // written by one goroutine at a time
	var left int64
	first := sync.OnceFunc(func() { close(blocked); <-gate })
	rt := start(t, Config{Slots: 1, QuietThrows: true, Logger: slog.New(handler{each: func(r slog.Record) {
		first()
		texts = append(texts, r.Message)
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == "lines" {
				left = a.Value.Int64()
			}
			return true
		})
	}})})
	const more = 10
	within(t, "tasks", func() {
		throwsAsAnother(t, rt.Loop())
		receive(t, "the Logger", blocked)
		for range maxLines + more {
			throwsAsAnother(t, rt.Loop())
		}
	})
	if n := rt.Stats().LinesLost; n != more {
		t.Errorf("%d lines are lost; want %d", n, more)
	}
	// The timer goes on: a time limit works.
	register(t, rt, Policy{Name: "limit", On: Every(time.Millisecond), Expr: `task.name == "long" ? throw("late") : continue()`})
	within(t, "the throw", func() {
		preemption(t, rt.Run(background, "long", spinForever))
	})
	began := time.Now()
	rt.log.flush()
	if d := time.Since(began); d < lastLines/2 {
		t.Errorf("flush gave up after %v", d)
	}
	close(gate)
	within(t, "the lines", rt.log.flush)
	if want := 1 + maxLines + 1; len(texts) != want || left != more || !strings.Contains(texts[want-1], "left out") {
		t.Errorf("%d lines, %d left out; want %d and %d; the last is %q", len(texts), left, want, more, texts[len(texts)-1])
	}
	throwsAsAnother(t, rt.Loop())
	rt.log.flush()
	if n := len(texts); n != 1+maxLines+2 || strings.Contains(texts[n-1], "left out") {
		t.Errorf("%d lines; the last is %q", n, texts[n-1])
	}
}

// Shutdown waits until the last lines are written, however slow the Logger is, up to its bound.
func TestShutdownWritesTheLastLines(t *testing.T) {
	var lines atomic.Int32
	rt, err := New(Config{Slots: 1, Logger: slog.New(handler{each: func(slog.Record) {
		time.Sleep(10 * time.Millisecond)
		lines.Add(1)
	}})})
	must(t, err)
	for range 5 {
		throwsAsAnother(t, rt.Loop())
	}
	must(t, rt.Shutdown(background))
	if n := lines.Load(); n != 5 {
		t.Errorf("%d lines were written; want 5", n)
	}
}

// The default Logger is the one at the time when the line is logged.
func TestLoggerIsTheDefaultOfTheTime(t *testing.T) {
	was := slog.Default()
	defer slog.SetDefault(was)
	var before, after journal
	slog.SetDefault(before.logger())
	rt, err := New(Config{Slots: 1})
	must(t, err)
	slog.SetDefault(after.logger())
	throwsAsAnother(t, rt.Loop())
	must(t, rt.Shutdown(background))
	if before.count("another panic") != 0 || after.count("another panic") != 1 {
		t.Errorf("the one before has\n%s\nand the one after\n%s", before.String(), after.String())
	}
}

// Lines come from many goroutines, and from the Logger itself. Each is written once, by one
// goroutine at a time, with the time and the place of the event.
func TestLoggerIsCalledByOneAtATime(t *testing.T) {
	var inside, wrong, written, places atomic.Int32
	var q *logQueue
	q = &logQueue{given: slog.New(handler{each: func(r slog.Record) {
		if inside.Add(1) != 1 {
			wrong.Add(1)
		}
		if written.Add(1) == 1 {
			q.add(slog.LevelInfo, "of the Logger itself")
		}
		f, _ := runtime.CallersFrames([]uintptr{r.PC}).Next()
		if strings.Contains(f.Function, "TestLoggerIsCalledByOneAtATime") && time.Since(r.Time) < patience {
			places.Add(1)
		}
		inside.Add(-1)
	}})}
	const each = maxLines / 8
	var crowd sync.WaitGroup
	for range 4 {
		crowd.Go(func() {
			for i := range each {
				if i%2 == 0 {
					q.add(slog.LevelInfo, "line")
				} else {
					q.addLater(slog.LevelInfo, "line", func() []any { return nil })
				}
			}
		})
	}
	crowd.Wait()
	q.flush()
	if n := written.Load(); n != 4*each+1 || wrong.Load() != 0 || places.Load() != n {
		t.Errorf("%d lines, %d at a time, %d with place and time; want %d", n, wrong.Load(), places.Load(), 4*each+1)
	}
	if q.missing() != 0 || q.lines != nil || q.writing {
		t.Errorf("%d are missing; %d wait", q.missing(), len(q.lines))
	}
}

// A line for which the Logger is not enabled is not prepared.
func TestLoggerThatWantsNothing(t *testing.T) {
	q := &logQueue{given: slog.New(slog.DiscardHandler)}
	var prepared atomic.Bool
	q.addLater(slog.LevelError, "line", func() []any { prepared.Store(true); return nil })
	q.expect(slog.LevelError, func() { prepared.Store(true) })
	q.flush()
	if prepared.Load() || q.missing() != 0 {
		t.Error("a line was prepared, or counts as lost")
	}
}

// Invariant 10: the Logger may call the runtime, although the line was logged under a loop's lock.
func TestLogUnderALoopsLock(t *testing.T) {
	var rt *Runtime
	asked := make(chan struct{})
	rt = start(t, Config{Slots: 1, Logger: slog.New(handler{each: func(slog.Record) {
		rt.Loop().Stats() // takes the lock
		close(asked)
	}})})
	l := rt.Loop()
	l.lock()
	rt.log.add(slog.LevelInfo, "line")
	l.unlock()
	receive(t, "the Logger", asked)
}

// TestOnlyTheQueueKnowsTheLogger reads the package's own source: only log.go calls the Logger.
func TestOnlyTheQueueKnowsTheLogger(t *testing.T) {
	comment := regexp.MustCompile(`(?m)//.*$`)
	calls := regexp.MustCompile(`cfg\.Logger|slog\.(Default|Debug|Info|Warn|Error|Log)\w*\(|\*slog\.Logger`)
	entries, err := os.ReadDir(".")
	must(t, err)
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || name == "log.go" {
			continue
		}
		text, err := os.ReadFile(name)
		must(t, err)
		for _, found := range calls.FindAllString(comment.ReplaceAllString(string(text), ""), -1) {
			if name == "config.go" && found == "*slog.Logger" || name == "new.go" && found == "cfg.Logger" {
				continue // the Logger comes from there
			}
			t.Errorf("%s has %s; want the methods of logQueue", name, found)
		}
	}
}

// Of a task deep in a recursion, the log and the texts of errors have the innermost names only.
func TestLongPathsAreCut(t *testing.T) {
	var texts []string
	var log journal
	text := slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == "task" {
			texts = append(texts, a.Value.String())
		}
		return a
	}})
	rt := start(t, Config{Slots: 1, Logger: slog.New(text)})
	var innermost *Task
	var run func(ctx context.Context, depth int) error
	run = func(ctx context.Context, depth int) error {
		if depth == 0 {
			h := rt.Go(ctx, "innermost", func(context.Context) error { panic("own") })
			innermost = h.Task()
			return h.Wait(ctx)
		}
		return rt.Run(ctx, "höhe", func(ctx context.Context) error { return run(ctx, depth-1) })
	}
	err := rt.Run(background, "outermost", func(ctx context.Context) error { return run(ctx, 1000) })
	var failed *TaskError
	if !errors.As(err, &failed) {
		t.Fatalf("it failed with %v", err)
	}
	rt.log.flush()
	for _, err := range []error{failed, &PreemptedError{Task: failed.Task}, innermost.refusal(ErrShutdown), innermost.overloaded(1), &ShutdownError{Tasks: []string{innermost.Path()}}} {
		texts = append(texts, err.Error())
	}
	if len(texts) != 6 {
		t.Errorf("%d texts; want a line of the log and five errors", len(texts))
	}
	for _, text := range texts {
		if !strings.Contains(text, "…/"+strings.Repeat("höhe/", maxPath-1)+"innermost") {
			t.Errorf("%.4000s", text)
		}
	}
}
