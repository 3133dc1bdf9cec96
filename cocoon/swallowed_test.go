package cocoon

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// Invariant 4: a throw swallowed by a recover is thrown again at a later safe point, even if no
// policy and no other task keeps the timer running.
func TestSwallowedThrowIsThrownAgain(t *testing.T) {
	for name, throw := range map[string]func(t *testing.T, rt *Runtime) func(context.Context){
		"policy": func(t *testing.T, rt *Runtime) func(context.Context) {
			signal := throwOnSignal(t, rt, "job")
			return func(context.Context) { signal() }
		},
		"cancel": func(*testing.T, *Runtime) func(context.Context) {
			return func(ctx context.Context) { TaskOf(ctx).Cancel() }
		},
	} {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 1})
			throw := throw(t, rt)
			swallowed := 0
			err := rt.Run(background, "job", func(ctx context.Context) error {
				throw(ctx)
				for range 3 {
					func() {
						defer func() {
							if recover() != nil {
								swallowed++
							}
						}()
						spinForever(ctx)
					}()
				}
				return spinForever(ctx)
			})
			preemption(t, err)
			if swallowed != 3 {
				t.Errorf("it was thrown %d times before", swallowed)
			}
		})
	}
}

// It is thrown at the very next safe point, unless the task is kept from its core for so long that
// the word is lowered again.
func TestSwallowedThrowIsThrownAtTheNextSafePoint(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	at := 0
	err := rt.Run(background, "job", func(ctx context.Context) error {
		swallowed := func(poll func(context.Context)) (thrown bool) {
			defer func() { thrown = recover() != nil }()
			poll(ctx)
			return false
		}
		TaskOf(ctx).Cancel()
		swallowed(func(ctx context.Context) { spinForever(ctx) })
		for range 100 {
			if swallowed(SafePoint) {
				at++
			}
		}
		return spinForever(ctx)
	})
	if preemption(t, err); at < 50 {
		t.Errorf("at %d of 100 safe points", at)
	}
}

// A function that swallows the throw and then fails was thrown out of: its error is the throw, with
// its own inside. One that succeeds has succeeded. Nothing is left over for the next task on the
// same goroutine.
func TestSwallowedThrowEndsWithTheTask(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	want := errors.New("mine, with /a/folder/x.go:12")
	signal := throwOnSignal(t, rt, "job")
	for name, c := range map[string]struct {
		throw func(ctx context.Context)
		err   error
	}{
		"fails, cancelled": {func(ctx context.Context) { TaskOf(ctx).Cancel() }, want},
		"fails":            {func(context.Context) { signal() }, want},
		"succeeds":         {func(context.Context) { signal() }, nil},
	} {
		var own context.Context
		h := rt.Go(background, "job", func(ctx context.Context) (err error) {
			own = ctx
			defer func() {
				recover()
				err = c.err
			}()
			c.throw(ctx)
			return spinForever(ctx)
		})
		err := h.Wait(background)
		if c.err == nil {
			if err != nil || h.Task().Status() != Returned {
				t.Errorf("%s: got %v, %v", name, err, h.Task().Status())
			}
			continue
		}
		pe := preemption(t, err)
		if pe.Returned() != want || !errors.Is(err, want) || strings.Contains(err.Error(), "/a/folder") || strings.Contains(err.Error(), "(/") {
			t.Errorf("%s: got %v", name, err)
		}
		if h.Task().Status() != CancelledBeforeReturn || context.Cause(own) != error(pe) {
			t.Errorf("%s: %v, %v", name, h.Task().Status(), context.Cause(own))
		}
	}
	for range 100 {
		must(t, rt.Run(background, "job", func(ctx context.Context) error { SafePoint(ctx); return nil }))
	}
}

// The same in a section; an error that contains the throw stays as it is.
func TestSwallowedThrowEndsWithTheSection(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	signal := throwOnSignal(t, rt, "job")
	want := errors.New("mine")
	for name, c := range map[string]struct {
		make func(thrown any) error
		has  error // nil: success
	}{
		"fails":         {func(any) error { return want }, want},
		"tells of it":   {func(thrown any) error { return fmt.Errorf("%w, %w", want, thrown.(error)) }, want},
		"another throw": {func(thrown any) error { return errors.Join(&PreemptedError{}, thrown.(error)) }, nil},
		"succeeds":      {func(any) error { return nil }, nil},
	} {
		must(t, rt.Run(background, "job", func(ctx context.Context) error {
			var made error
			_, err := Section(ctx, "s", func() (_ int, err error) {
				defer func() {
					made = c.make(recover())
					err = made
				}()
				signal()
				return 0, spinForever(ctx)
			})
			if made == nil && err != nil || made != nil && preemption(t, err) == nil || c.has != nil && !errors.Is(err, c.has) {
				t.Errorf("%s: got %v", name, err)
			}
			for range 100 {
				SafePoint(ctx)
			}
			return nil
		}))
	}
}

// A throw that code recovers is thrown again at the next safe point, even a late one: the word
// stays raised for it longer than for a task that does not respond.
func TestRecoveredThrowStaysAudible(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	signal := throwOnSignal(t, rt, "job")
	preemption(t, rt.Run(background, "job", func(ctx context.Context) error {
		s := TaskOf(ctx).strand
		func() {
			defer func() { _ = recover() }()
			signal()
			_ = spinForever(ctx)
		}()
		for begin := time.Now(); time.Since(begin) < 4*time.Duration(raisedFor); time.Sleep(100 * time.Microsecond) {
			s.loop.lock()
			raised := s.raised
			s.loop.unlock()
			if !raised {
				t.Fatalf("the word was lowered after %v", time.Since(begin))
			}
		}
		SafePoint(ctx)
		t.Error("it did not come again at the next safe point")
		return nil
	}))
}
