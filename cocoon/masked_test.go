package cocoon

import (
	"context"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/safepoint"
)

// The functions that rewritten packages call.
//
//go:linkname lockedLink github.com/cocoon-go/cocoon/safepoint.lockedLink
var lockedLink func(pkg, file string, lines []int, locks []string, ends, fresh []int)

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
		lockedLink("github.com/cocoon-go/cocoon/cocoon", "masked_test.go", []int{line + 1, line + 3, safepoint.ByItself}, []string{"guard"}, nil, nil)
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

// cleaningUp is a function whose deferred call is made in a line that rewriting has noted.
func cleaningUp(clean func()) {
	defer clean()
}

// noteCleaningUp records that line.
func noteCleaningUp() {
	f := runtime.FuncForPC(reflect.ValueOf(cleaningUp).Pointer())
	_, line := f.FileLine(f.Entry())
	lockedLink("github.com/cocoon-go/cocoon/cocoon", "masked_test.go", nil, nil, []int{line + 2, line + 2}, nil)
}

// A deferred call of a function that returns is not thrown out of, and may be suspended. The throw
// comes as soon as it has ended, also where hardly anything but such calls polls.
func TestDeferredCallOfAFunctionThatReturns(t *testing.T) {
	noteCleaningUp()
	for name, point := range map[string]func(context.Context){
		"a poll":      func(context.Context) { safepoint.Poll() },
		"a SafePoint": SafePoint,
	} {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 1})
			limit(t, rt, "lib.match") // 5 ms
			must(t, rt.RegisterPreemptibleFunc("job"))
			register(t, rt, Policy{Name: "turns", On: Every(time.Millisecond), Expr: "switch()"})
			must(t, rt.Run(background, "job", func(ctx context.Context) error {
				begun, done := 0, 0
				_, err := match(func() {
					for begin := time.Now(); time.Since(begin) < 10*time.Second; point(ctx) {
						cleaningUp(func() {
							begun++
							for begin := time.Now(); time.Since(begin) < 10*time.Millisecond; {
								point(ctx)
							}
							other := rt.Go(background, "other", func(context.Context) error { return nil })
							for other.Task().Status() != Returned {
								point(ctx)
							}
							done++
						})
					}
				})
				preemption(t, err)
				if begun != done || done > 100 {
					t.Errorf("%d calls began, %d were done; the limit is 5 ms, and each takes 10", begun, done)
				}
				return nil
			}))
		})
	}
}

// What the runtime and package context call back later runs on goroutines that are no task's.
func TestCallbacksAreNotThrownOutOf(t *testing.T) {
	noteLocked() // as in a rewritten program
	rt := start(t, Config{Slots: 1})
	for name, register := range map[string]func(f func()){
		"context.AfterFunc": func(f func()) {
			ctx, cancel := context.WithCancel(background)
			context.AfterFunc(ctx, f)
			cancel()
		},
		"runtime.AddCleanup": func(f func()) {
			runtime.AddCleanup(new([16]int), func(int) { f() }, 0)
			runtime.GC()
		},
		"runtime.SetFinalizer": func(f func()) {
			runtime.SetFinalizer(new([16]int), func(*[16]int) { f() })
			runtime.GC()
		},
	} {
		within(t, name, func() {
			done := make(chan bool)
			preemption(t, rt.Run(background, "job", func(ctx context.Context) error {
				register(func() {
					ended := false
					defer func() { done <- ended }()
					pollFor(2*time.Millisecond, &ended)()
				})
				TaskOf(ctx).Cancel()
				time.Sleep(time.Millisecond)
				return spinForever(ctx)
			}))
			if !<-done {
				t.Errorf("%s: thrown out of", name)
			}
		})
	}
}

// Code that is under a lock nearly all the time, and polls there, is stopped at its first safe
// point: the word does not go down meanwhile.
func TestMostlyUnderALock(t *testing.T) {
	noteLocked()
	rt := start(t, Config{Slots: 1, StallAfter: time.Minute})
	const stretch = 100 * time.Millisecond
	rounds := longtest.Count(4, 2)
	passed := 0 // safe points after the request
	for range rounds {
		var requested atomic.Bool
		preemption(t, rt.Run(background, "job", func(ctx context.Context) error {
			time.AfterFunc(stretch/4, func() { TaskOf(ctx).Cancel(); requested.Store(true) })
			for {
				locked(func() {
					for begin := time.Now(); time.Since(begin) < stretch; {
						safepoint.Poll()
					}
				})
				before := requested.Load()
				if safepoint.Poll(); before {
					passed++
				}
			}
		}))
	}
	if passed > rounds/2 { // on a crowded machine it may lose its core for longer than the word stays up
		t.Errorf("it passed %d safe points after %d requests", passed, rounds)
	}
}

// A task that has polled under a lock, and then does not for a while, finds the word raised at its
// one safe point: it may have lost its core meanwhile. A crowded machine can take the core before
// the poll under the lock, which then finds the word lowered, or for longer than the word stays
// raised. Such a safe point proves nothing, and does not count.
func TestSilentUnderALock(t *testing.T) {
	noteLocked()
	rt := start(t, Config{Slots: 1, StallAfter: time.Minute})
	const silence, stays = 40 * time.Millisecond, 90 * time.Millisecond // it stays raised for 100 ms
	rounds := longtest.Count(20, 4)
	counted, passed := 0, 0 // safe points that had to find the word raised, and the misses among them
	for range 10 * rounds {
		var begin time.Time
		var raised bool
		counts := func() bool { return raised && time.Since(begin) < stays }
		preemption(t, rt.Run(background, "job", func(ctx context.Context) error {
			for TaskOf(ctx).Cancel(); ; {
				locked(func() {
					begin, raised = time.Now(), safepoint.Raised()
					safepoint.Poll()
					for time.Since(begin) < silence {
					}
				})
				if safepoint.Poll(); counts() {
					counted++
					passed++
				}
			}
		}))
		if counts() {
			counted++
		}
		if counted >= rounds {
			break
		}
	}
	switch {
	case counted == 0:
		t.Errorf("in %d rounds no poll under the lock has found the word raised", 10*rounds)
	case counted < rounds:
		t.Logf("only %d of %d safe points count: other processes keep the cores", counted, rounds)
	}
	if passed > 0 {
		t.Errorf("%d safe points of %d were passed over", passed, counted)
	}
}
