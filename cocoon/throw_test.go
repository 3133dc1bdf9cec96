package cocoon

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/safepoint"
)

// throwOnSignal registers a policy that throws into the running tasks of that name on a signal of
// the application. The verdict is posted before Notify returns.
func throwOnSignal(t testing.TB, rt *Runtime, task string) (signal func()) {
	t.Helper()
	register(t, rt, Policy{Name: "signal." + task, On: OnNotify(task), Expr: `throw("signalled")`, Match: Match{Tasks: []string{task}}})
	return func() { rt.Notify(task, 0) }
}

func preemption(t testing.TB, err error) *PreemptedError {
	t.Helper()
	var pe *PreemptedError
	if !errors.As(err, &pe) {
		t.Fatalf("got %v; want a PreemptedError", err)
	}
	return pe
}

// Invariant 4: a task that is thrown into unwinds with its defers, and Run returns the
// PreemptedError.
func TestThrowUnwindsWithDefers(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	signal := throwOnSignal(t, rt, "job")
	var order []string
	err := rt.Run(background, "job", func(ctx context.Context) error {
		defer func() { order = append(order, "outer") }()
		defer func() { order = append(order, "inner") }()
		signal()
		return spinForever(ctx)
	})
	pe := preemption(t, err)
	if pe.Policy != "signal.job" || pe.Reason != "signalled" || pe.Task != "job" || pe.Section != "" || !pe.Started || pe.Cause != nil {
		t.Errorf("%+v", pe)
	}
	if got := strings.Join(order, ","); got != "inner,outer" {
		t.Errorf("deferred calls ran as %q", got)
	}
	for _, want := range []string{`task "job"`, `policy "signal.job"`, "signalled", "spinForever"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %q", err, want)
		}
	}
	if !strings.Contains(pe.Stack(), "TestThrowUnwindsWithDefers") {
		t.Errorf("the stack does not lead here:\n%s", pe.Stack())
	}
}

// cocoon_poll has the name of the function that cocoon build inserts.
//
//lint:ignore ST1003 it is the name
func cocoon_poll(answer func()) { answer() }

// cocoon_answerNow has the name of the function that it inserts where nothing is inlined.
//
//lint:ignore ST1003 it is the name
func cocoon_answerNow() { safepoint.Poll() }

// Where returns the caller's place, in whatever way the safe point was reached.
func TestPreemptedErrorSaysWhere(t *testing.T) {
	points := map[string]func(ctx context.Context){
		"SafePoint":      SafePoint,
		"safepoint.Poll": func(context.Context) { safepoint.Poll() },
		"cocoon build":   func(context.Context) { cocoon_poll(safepoint.Poll) },
		"direct call":    func(context.Context) { cocoon_answerNow() },
		"Yield":          Yield,
		"Block":          func(ctx context.Context) { Block(ctx, func() error { return nil }) },
		"Wait":           func(ctx context.Context) { Wait(ctx, func() {}) },
	}
	for name, point := range points {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 1})
			signal := throwOnSignal(t, rt, "job")
			err := rt.Run(background, "job", func(ctx context.Context) error {
				signal()
				for end := time.Now().Add(patience); time.Now().Before(end); {
					point(ctx)
				}
				return nil
			})
			if where := preemption(t, err).Where(); !strings.Contains(where, "TestPreemptedErrorSaysWhere") {
				t.Errorf("it happened at %q", where)
			}
		})
	}
}

// Invariant 4: a deferred function that polls while the task unwinds is not thrown into again, and
// runs to its end.
func TestDeferredFunctionsPollInPeace(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	cleaned, sectioned := false, false
	err := rt.Run(background, "job", func(ctx context.Context) error {
		defer func() {
			for end := time.Now().Add(5 * time.Millisecond); time.Now().Before(end); {
				SafePoint(ctx)
				Yield(ctx)
			}
			cleaned = true
		}()
		defer func() {
			_, err := Section(ctx, "cleanup", func() (int, error) { SafePoint(ctx); return 0, nil })
			sectioned = err == nil
		}()
		TaskOf(ctx).Cancel()
		return spinForever(ctx)
	})
	if !errors.Is(err, ErrCancelled) || !cleaned || !sectioned {
		t.Errorf("got %v; cleaned %v, section in a deferred call %v", err, cleaned, sectioned)
	}
}

// A throw arrives at the task's end whatever the task's code turns it into. Goexit passes through,
// and the slot is given back (invariant 5).
func TestThrowBecomesAPanic(t *testing.T) {
	var log journal
	rt := start(t, Config{Slots: 1, Logger: log.logger()})
	h := rt.Go(background, "job", func(ctx context.Context) error {
		defer func() { recover(); panic("other") }()
		TaskOf(ctx).Cancel()
		return spinForever(ctx)
	})
	pe := preemption(t, h.Wait(background))
	if p := pe.Panic(); p == nil || p.Value != "other" || !errors.Is(pe, ErrCancelled) || !strings.Contains(pe.Error(), "panic: other") {
		t.Errorf("got %v, %+v", pe, p)
	}
	rt.log.flush()
	if log.count("turned a throw into another panic") != 1 {
		t.Errorf("the log says\n%s", log.String())
	}
	h = rt.Go(background, "job", func(ctx context.Context) error {
		defer func() { recover(); runtime.Goexit() }()
		TaskOf(ctx).Cancel()
		return spinForever(ctx)
	})
	if err := h.Wait(background); !errors.Is(err, ErrGoexit) {
		t.Errorf("got %v", err)
	}
}

// wrapping is a panic value that holds the previous one, like the values of singleflight and
// errgroup. bare holds it without an Unwrap method.
type (
	wrapping struct{ was any }
	bare     struct{ Was any }
)

func (w wrapping) Error() string { return fmt.Sprintf("wrapped: %v", w.was) }

func (w wrapping) Unwrap() error { err, _ := w.was.(error); return err }

// A value that holds the throw, and the throw that refers to the value, can both be printed.
func TestThrowIsWrappedInAPanic(t *testing.T) {
	var log journal
	rt := start(t, Config{Slots: 1, Logger: log.logger()})
	for _, wrap := range []func(any) any{
		func(v any) any { return wrapping{v} },
		func(v any) any { return &bare{v} },
		func(v any) any { return fmt.Errorf("again: %w", wrapping{v}) },
	} {
		err := rt.Run(background, "job", func(ctx context.Context) error {
			defer func() { panic(wrap(recover())) }()
			TaskOf(ctx).Cancel()
			return spinForever(ctx)
		})
		pe := preemption(t, err)
		for _, text := range []string{pe.Error(), pe.Panic().Error(), fmt.Sprint(pe.Panic().Value), fmt.Sprintf("%+v", err)} {
			if strings.Count(text, "spinForever") == 0 || len(text) > 2000 {
				t.Errorf("the text has %d bytes: %.500s", len(text), text)
			}
		}
		if !errors.Is(pe, ErrCancelled) {
			t.Errorf("got %v", pe)
		}
	}
	rt.log.flush()
	if log.count("turned a throw into another panic") != 3 {
		t.Errorf("the log says\n%s", log.String())
	}
}

// Invariant 4: a throw ends the task's context, with the PreemptedError as the cause, before the
// task ends.
func TestThrowIsTheCauseOfTheContext(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	signal := throwOnSignal(t, rt, "job")
	for range 200 {
		var kept context.Context
		err := rt.Run(background, "job", func(ctx context.Context) error {
			kept = ctx
			signal()
			return spinForever(ctx)
		})
		pe := preemption(t, err)
		if kept.Err() == nil || context.Cause(kept) != error(pe) {
			t.Fatalf("the context ended by %v, its cause is %v; want %v", kept.Err(), context.Cause(kept), pe)
		}
	}
}

// Code that watches the context may read the error while the task is still on its way to the safe
// point. The race detector checks this.
func TestCauseIsReadWhileItIsThrown(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	for range 50 {
		read := make(chan string)
		err := rt.Run(background, "job", func(ctx context.Context) error {
			watching := make(chan struct{})
			go func() {
				close(watching)
				<-ctx.Done()
				for range 100 {
					_ = context.Cause(ctx).Error()
				}
				read <- context.Cause(ctx).Error()
			}()
			<-watching
			TaskOf(ctx).strand.loop.lockAll()
			s := TaskOf(ctx).strand
			s.postThrow(s.preempted("", "test", "", nil, 0), 0, 0)
			s.loop.unlock()
			return spinForever(ctx)
		})
		preemption(t, err)
		<-read
	}
}

// Invariant 6: a verdict reaches its target task, or no task. The strand of the first task also
// serves the second.
func TestThrowDoesNotReachTheNextTask(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	signal := throwOnSignal(t, rt, "job")
	for range 1000 {
		must(t, rt.Run(background, "job", func(context.Context) error {
			signal() // and no safe point after it
			return nil
		}))
	}
	if safepoint.Raised() {
		t.Error("the word is still up")
	}
	h := rt.Go(background, "job", func(context.Context) error { return nil })
	must(t, h.Wait(background))
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		h.Cancel() // no effect: it has ended
		for range 1000 {
			SafePoint(ctx)
		}
		return ctx.Err()
	}))
}

// Invariant 3: between safe points no throw reaches a task.
func TestNoThrowWithoutASafePoint(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	signal := throwOnSignal(t, rt, "job")
	reached := false
	err := rt.Run(background, "job", func(ctx context.Context) error {
		signal()
		for end := time.Now().Add(5 * time.Millisecond); time.Now().Before(end); {
		}
		reached = true
		return nil
	})
	if err != nil || !reached {
		t.Errorf("got %v, reached %v", err, reached)
	}
}
