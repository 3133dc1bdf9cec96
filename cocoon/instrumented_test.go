package cocoon

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/safepoint"
)

// spinPolling is a loop as rewritten by cocoon build: it has no context.
func spinPolling() {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		safepoint.Poll()
	}
}

// match is a function as rewritten by cocoon build, if a policy names it and its last result is an
// error.
func match(spin func()) (n int, err error) {
	defer safepoint.Enter("lib.match")(&err)
	spin()
	return 1, nil
}

// convert is a function without an error result.
func convert(spin func()) int {
	defer safepoint.Enter("lib.convert")(nil)
	spin()
	return 1
}

func limit(t *testing.T, rt *Runtime, name string) {
	t.Helper()
	if _, err := rt.RegisterTimeLimit(TimeLimit{Func: name, Limit: 5 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
}

// A time limit on a marked function becomes an error of that function. The task goes on, and may
// call the function again.
func TestMarkedFunctionReturnsTheThrow(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: time.Minute})
	limit(t, rt, "lib.match")
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		for range 3 {
			_, err := match(spinPolling)
			if pe := preemption(t, err); pe.Section != "lib.match" {
				t.Errorf("%v", err)
			}
			if ctx.Err() != nil {
				t.Errorf("the context ended: %v", context.Cause(ctx))
			}
			if n, err := match(func() {}); n != 1 || err != nil {
				t.Errorf("undisturbed: %d, %v", n, err)
			}
		}
		return nil
	}))
}

// If the function has no error result, the throw goes on to the section around it, or ends the
// task.
func TestMarkedFunctionWithoutAnErrorPassesTheThrowOn(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: time.Minute})
	limit(t, rt, "lib.convert")
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		err := inSection(ctx, "around", func() error { convert(spinPolling); return nil })
		if pe := preemption(t, err); pe.Section != "lib.convert" {
			t.Errorf("%v", err)
		}
		_, err = match(func() { convert(spinPolling) })
		preemption(t, err)
		// A defer that polls on the way does not make it void.
		err = inSection(ctx, "around", func() error {
			defer safepoint.Poll()
			func() { defer spinShortly(); convert(spinPolling) }()
			return nil
		})
		preemption(t, err)
		return nil
	}))
	err := rt.Run(background, "job", func(context.Context) error { convert(spinPolling); return nil })
	preemption(t, err)
}

func spinShortly() {
	for end := time.Now().Add(2 * time.Millisecond); time.Now().Before(end); {
		safepoint.Poll()
	}
}

// failing is one that fails.
func failing(spin func(), with error) (err error) {
	defer safepoint.Enter("lib.match")(&err)
	spin()
	return with
}

// What is not a throw passes: panics, Goexit; and a throw that was swallowed in the function is
// void when it returns without an error.
func TestMarkedFunctionLeavesTheRestAlone(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: time.Minute})
	limit(t, rt, "lib.match")
	limit(t, rt, "lib.convert")
	swallow := func() {
		defer func() { recover() }()
		spinPolling()
	}
	must(t, rt.Run(background, "job", func(context.Context) error {
		if n, err := match(swallow); n != 1 || err != nil {
			t.Errorf("swallowed: %d, %v", n, err)
		}
		want := errors.New("internal error")
		if err := failing(swallow, want); preemption(t, err).Returned() != want {
			t.Errorf("swallowed, and failed: %v", err)
		}
		if n := convert(swallow); n != 1 {
			t.Errorf("swallowed: %d", n)
		}
		for range 1000 {
			safepoint.Poll()
		}
		func() {
			defer func() {
				if r := recover(); r != "mine" {
					t.Errorf("recovered %v", r)
				}
			}()
			match(func() { panic("mine") })
		}()
		return nil
	}))
	done := make(chan error)
	go func() {
		defer close(done)
		done <- rt.Go(background, "job", func(context.Context) error { _, err := match(runtime.Goexit); return err }).Wait(background)
	}()
	if err := <-done; !errors.Is(err, ErrGoexit) {
		t.Errorf("Goexit: %v", err)
	}
	if n, err := match(func() {}); n != 1 || err != nil {
		t.Errorf("outside of tasks: %d, %v", n, err)
	}
}
