package cocoon

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/notify"
)

// stalls starts a task whose slot is lent because another task waits. The task then calls come.
// On a busy machine the task may lack a processor, and is not blamed then: it starts again.
func stalls(t *testing.T, rt *Runtime, name string, come func(ctx context.Context)) {
	t.Helper()
	for before := rt.Loop().Stats().Stalls; rt.Loop().Stats().Stalls == before; {
		var lent atomic.Bool
		h := begun(t, rt.Loop(), background, name, func(ctx context.Context) error {
			if err := stall(lent.Load); err != nil {
				t.Error(err)
			}
			come(ctx)
			return nil
		})
		within(t, "the task that waits", func() {
			must(t, rt.Run(background, "waiter", func(context.Context) error { lent.Store(true); return nil }))
			h.Wait(background)
		})
	}
}

//go:noinline
func comesBackHere(ctx context.Context) {
	for s, end := TaskOf(ctx).strand, time.Now().Add(patience); s.lent.Load() && time.Now().Before(end); {
		SafePoint(ctx) // the word may be lowered
	}
}

//go:noinline
func panicsHere() { panic("x") }

// A task that stalled reports where it came back, in whatever way.
func TestStallReportOfATaskThatComesBack(t *testing.T) {
	for name, c := range map[string]struct {
		come func(rt *Runtime, ctx context.Context)
		back string
		none string // must not be in the stack
	}{
		"safe point": {func(_ *Runtime, ctx context.Context) { comesBackHere(ctx) }, "cocoon.comesBackHere ", "SafePoint"},
		"block": {func(_ *Runtime, ctx context.Context) { Block(ctx, func() error { return nil }) },
			"cocoon.TestStallReportOfATaskThatComesBack.func", "(*strand)"},
		"end":   {func(*Runtime, context.Context) {}, "at its end", "cocoon."},
		"panic": {func(*Runtime, context.Context) { panicsHere() }, "cocoon.panicsHere ", "taskMark"},
	} {
		t.Run(name, func(t *testing.T) {
			var back, stack, text string
			var silent time.Duration
			var count int64
			rt := start(t, Config{Slots: 1, StallAfter: 5 * time.Millisecond, Logger: slog.New(handler{each: func(r slog.Record) {
				if strings.Contains(r.Message, "panicked") || strings.Contains(r.Message, "had no processor") {
					return
				}
				text = r.Message
				r.Attrs(func(a slog.Attr) bool {
					switch a.Key {
					case "back":
						back = a.Value.String()
					case "stack":
						stack = a.Value.String()
					case "silent":
						silent = a.Value.Duration()
					case "stalls":
						count = a.Value.Int64()
					}
					return true
				})
			}})})
			began := time.Now()
			stalls(t, rt, "staller", func(ctx context.Context) { c.come(rt, ctx) })
			took := time.Since(began)
			rt.log.flush()
			if !strings.Contains(text, "was lent") && !strings.Contains(text, "is lent") {
				t.Fatalf("the line says %q", text)
			}
			if strings.Contains(text, "is lent") && took >= comesSoon {
				t.Skip("the machine is busy: the task took more than 100 ms to come back")
			}
			if !strings.Contains(back, c.back) || strings.Contains(stack, c.none) || (stack == "") != (name == "end") {
				t.Errorf("back: %q\nstack:\n%s", back, stack)
			}
			if silent < 5*time.Millisecond || silent > patience || count < 1 {
				t.Errorf("%d stalls, silent for %v", count, silent)
			}
		})
	}
}

//go:noinline
func staysAwayHere(logged func() bool) {
	for end := time.Now().Add(patience); !logged() && time.Now().Before(end); {
	}
}

// Among few goroutines, a report does not wait a second for the task to come back: it has the stack
// of a stall that lasts a few hundred milliseconds.
func TestStackOfAShortStall(t *testing.T) {
	defer func(d time.Duration) { comesBack = d }(comesBack)
	comesBack = time.Hour
	var log journal
	rt := start(t, Config{Slots: 1, StallAfter: 5 * time.Millisecond, Logger: log.logger()})
	logged := func() bool { return log.count("its slot ") > 0 }
	stalls(t, rt, "staller", func(context.Context) { staysAwayHere(logged) })
	rt.log.flush()
	if log.count("cocoon.staysAwayHere") == 0 {
		t.Errorf("the report has no stack of the function that stalls:\n%v", &log)
	}
	if few, many := patienceOf(100), patienceOf(100_000); few > 2*comesSoon || many < time.Second {
		t.Errorf("a report waits for %v among a hundred goroutines, and for %v among 100,000", few, many)
	}
}

// Stalls within one second are logged as one line, and the next line has their number.
func TestStallReportsAreSeldom(t *testing.T) {
	var log journal
	rt := start(t, Config{Slots: 1, StallAfter: time.Millisecond, Logger: log.logger()})
	began := time.Now()
	for rt.Loop().Stats().Stalls < 10 {
		stalls(t, rt, "staller", func(context.Context) {})
	}
	rt.log.flush()
	if n, most := log.count("its slot "), 1+int(time.Since(began)/time.Second); n < 1 || n > most {
		t.Errorf("%d lines; want 1 to %d:\n%s", n, most, log.String())
	}
}

// If the Logger is not enabled for warnings, no stack is searched for.
func TestStallReportOfDisabledLevel(t *testing.T) {
	shorter(t, &comesBack)
	rt := start(t, Config{Slots: 1, StallAfter: time.Millisecond})
	stalls(t, rt, "staller", func(context.Context) { time.Sleep(comesBack + 100*time.Millisecond) })
	rt.log.flush()
	if rt.Loop().Stats().Stalls == 0 || rt.looked.Load() != 0 {
		t.Errorf("%d stalls, stacks were taken until %d", rt.Loop().Stats().Stalls, rt.looked.Load())
	}
}

// If several stacks may be the task's, the report contains them, and says so.
func TestStallReportIsInDoubt(t *testing.T) {
	rt := start(t, Config{Slots: 17, StallAfter: -1})
	var over atomic.Bool
	gate := make(chan struct{})
	defer close(gate)
	defer over.Store(true)
	first := begun(t, rt.Loop(), background, "t", func(context.Context) error { busyHere(&over); return nil }).Task().strand
	for {
		s := begun(t, rt.Loop(), background, "t", func(ctx context.Context) error {
			if (TaskOf(ctx).strand.number-first.number)%16 == 0 {
				busyThere(&over)
			}
			<-gate
			return nil
		}).Task().strand
		if (s.number-first.number)%16 == 0 {
			break
		}
	}
	st := &stallReport{s: first, task: "t"}
	eventually(t, "both stacks", func() bool {
		attrs := st.findStack()
		stack, note := attrs[1].(string), ""
		if len(attrs) > 2 {
			note = attrs[3].(string)
		}
		return strings.Contains(stack, "busyHere") && strings.Contains(stack, "busyThere") && strings.Contains(note, "2 stacks, of which here are 2")
	})
	if rt.looked.Load() <= notify.Now() {
		t.Error("stacks may be taken again at once")
	}
}

// A task that does not come back even for the shutdown is still reported, at once.
func TestStallReportAtShutdown(t *testing.T) {
	shorter(t, &shutdownGrace)
	var log journal
	rt, err := New(Config{Slots: 1, StallAfter: time.Millisecond, Logger: log.logger()})
	must(t, err)
	var over atomic.Bool
	h := begun(t, rt.Loop(), background, "staller", func(context.Context) error { return stall(over.Load) })
	rt.looked.Store(notify.Never) // so that it has to wait
	must(t, rt.Run(background, "waiter", idle))
	ctx, cancel := context.WithCancel(background)
	cancel()
	var left *ShutdownError
	if err := rt.Shutdown(ctx); !errors.As(err, &left) {
		t.Errorf("shutdown: %v", err)
	}
	if log.count("its slot is lent") != 1 && log.count("had no processor") == 0 { // of which no task is to blame
		t.Errorf("the log says\n%s", log.String())
	}
	over.Store(true)
	must(t, h.Wait(background))
	must(t, rt.Shutdown(background))
	changeRuntimes(func(all []*Runtime) (others []*Runtime) {
		for _, r := range all {
			if r != rt {
				others = append(others, r)
			}
		}
		return others
	})
}
