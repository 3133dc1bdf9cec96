package cocoon

import (
	"context"
	"reflect"
	"runtime"
	"sync"
	"testing"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/cocoon-go/cocoon/safepoint"
)

// The functions that rewritten packages call.
//
//go:linkname holdLink github.com/cocoon-go/cocoon/safepoint.holdLink
var holdLink func(pkg, file string, lines []int)

var guard sync.Mutex

// locked is a function with lines recorded by rewriting.
func locked(spin func()) {
	guard.Lock()
	spin()
	guard.Unlock()
}

// lockedPoint is such a function with a SafePoint of its own.
func lockedPoint(ctx context.Context) {
	guard.Lock()
	SafePoint(ctx)
	guard.Unlock()
}

// limited is a function that a policy names by its full name.
func limited(spin func()) (err error) {
	defer safepoint.Enter("github.com/cocoon-go/cocoon/cocoon.limited")(&err)
	spin()
	return nil
}

func noteLocked() {
	for _, f := range []any{locked, lockedPoint} {
		f := runtime.FuncForPC(reflect.ValueOf(f).Pointer())
		_, line := f.FileLine(f.Entry())
		holdLink("github.com/cocoon-go/cocoon/cocoon", "masked_test.go", []int{line + 1, line + 3})
	}
}

// pollFor polls as rewritten code does, and records whether it reached the end.
func pollFor(d time.Duration, done *bool) func() {
	return func() {
		for end := time.Now().Add(d); time.Now().Before(end); {
			safepoint.Poll()
		}
		*done = true
	}
}

// A throw waits until no lock is held, and no sync.Once is running its function. Locks outside of
// the section that catches the throw do not matter.
func TestPollUnderALockIsNoSafePoint(t *testing.T) {
	noteLocked()
	rt := start(t, Config{Slots: 1})
	limit(t, rt, "lib.match")
	const long = 30 * time.Millisecond
	var once sync.Once
	for name, hold := range map[string]func(func()){"a lock": locked, "a once": func(f func()) { once.Do(f) }} {
		t.Run(name, func(t *testing.T) {
			must(t, rt.Run(background, "job", func(ctx context.Context) error {
				inside := false
				_, err := match(func() {
					hold(pollFor(long, &inside))
					spinPolling()
				})
				preemption(t, err)
				if !inside {
					t.Error("thrown out while it was held")
				}
				if !guard.TryLock() {
					t.Fatal("the lock is left locked")
				}
				guard.Unlock()
				return nil
			}))
		})
	}
	t.Run("outside", func(t *testing.T) {
		must(t, rt.Run(background, "job", func(ctx context.Context) error {
			locked(func() {
				err := inSection(ctx, "lib.match", func() error { spinPolling(); return nil })
				preemption(t, err)
			})
			return nil
		}))
	})
}

// A lock held around the task, or around the function of a section, does not affect a throw that
// ends before it. The stack walk must find these frames by their names.
func TestALockAroundTheBoundaryDoesNotMask(t *testing.T) {
	noteLocked()
	rt := start(t, Config{Slots: 1})
	limit(t, rt, "github.com/cocoon-go/cocoon/cocoon.limited")
	limit(t, rt, "job")
	for name, spin := range map[string]func(ctx context.Context){
		"poll":      func(context.Context) { spinPolling() },
		"SafePoint": func(ctx context.Context) { must(t, spinForever(ctx)) },
	} {
		t.Run("task/"+name, func(t *testing.T) {
			locked(func() {
				preemption(t, rt.Run(background, "job", func(ctx context.Context) error { spin(ctx); return nil }))
			})
		})
		t.Run("function/"+name, func(t *testing.T) {
			must(t, rt.Run(background, "other", func(ctx context.Context) error {
				locked(func() { preemption(t, limited(func() { spin(ctx) })) })
				return nil
			}))
		})
	}
}

// An explicit SafePoint under a lock of rewritten code is passed over, whether its own function or
// a caller holds the lock. The log says so once for each place.
func TestSafePointUnderALockIsPassedOver(t *testing.T) {
	noteLocked()
	for name, point := range map[string]func(ctx context.Context){
		"in a callback":              func(ctx context.Context) { locked(func() { SafePoint(ctx) }) },
		"in its own":                 lockedPoint,
		"without the task's context": func(context.Context) { locked(func() { SafePoint(background) }) },
	} {
		t.Run(name, func(t *testing.T) {
			var log journal
			rt := start(t, Config{Slots: 1, Logger: log.logger()})
			for range 2 {
				inside := false
				preemption(t, rt.Run(background, "job", func(ctx context.Context) error {
					TaskOf(ctx).Cancel()
					for range 100 {
						point(ctx)
					}
					inside = true
					return spinForever(ctx)
				}))
				if !inside {
					t.Error("thrown out while the lock was held")
				}
				if !guard.TryLock() {
					t.Fatal("the lock is left locked")
				}
				guard.Unlock()
			}
			const line = "a SafePoint under a lock is passed over"
			eventually(t, "the log", func() bool { return log.count(line) > 0 })
			if n := log.count(line); n != 1 || log.count("masked_test.go") != 2 {
				t.Errorf("logged %d times, with its place and the lock's:\n%s", n, &log)
			}
		})
	}
}

// A poll inserted by cocoon build is passed over without a log line, because no author wrote it.
func TestPollUnderALockIsNotLogged(t *testing.T) {
	noteLocked()
	var log journal
	rt := start(t, Config{Slots: 1, Logger: log.logger()})
	preemption(t, rt.Run(background, "job", func(ctx context.Context) error {
		TaskOf(ctx).Cancel()
		locked(func() {
			for range 100 {
				safepoint.Poll()
			}
		})
		return spinForever(ctx)
	}))
	rt.passedOver.Range(func(place, _ any) bool {
		t.Errorf("%v was logged: %s", place, &log)
		return true
	})
}
