package cocoon

import (
	"context"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/safepoint"
)

var deferredGuard sync.RWMutex

// lockedDeferred is a function with lines recorded by rewriting. A deferred call releases its lock.
func lockedDeferred(spin func()) {
	deferredGuard.Lock()
	defer deferredGuard.Unlock()
	spin()
}

// lockedReading is such a function with a read lock.
func lockedReading(spin func()) {
	deferredGuard.RLock()
	defer deferredGuard.RUnlock()
	spin()
}

// lockedOwn is such a function, whose lock is its receiver's.
func lockedOwn(spin func()) {
	deferredGuard.Lock()
	defer deferredGuard.Unlock()
	spin()
}

// callsFresh is a function that calls lockedOwn on what only it has.
func callsFresh(spin func()) {
	lockedOwn(spin)
}

// noteDeferred records the lines of these functions, once.
var noteDeferred = sync.OnceFunc(func() {
	noteLocked()
	for _, f := range []struct {
		of  any
		how int
	}{{lockedDeferred, safepoint.ByDefer}, {lockedReading, safepoint.Unharmed}, {lockedOwn, safepoint.InReceiver}} {
		at := runtime.FuncForPC(reflect.ValueOf(f.of).Pointer())
		_, line := at.FileLine(at.Entry())
		lockedLink("github.com/cocoon-go/cocoon/cocoon", "through_test.go", []int{line + 1, line + 2, safepoint.ByItself, line + 3, line + 4, f.how},
			[]string{"deferredGuard", "deferredGuard"}, nil, nil)
	}
	at := runtime.FuncForPC(reflect.ValueOf(callsFresh).Pointer())
	_, line := at.FileLine(at.Entry())
	lockedLink("github.com/cocoon-go/cocoon/cocoon", "through_test.go", nil, nil, nil, []int{line + 1, line + 1})
})

// isFree reports whether nobody holds the lock.
func isFree(mu *sync.RWMutex) bool {
	free := mu.TryLock()
	if free {
		mu.Unlock()
	}
	return free
}

// A throw passes locks that deferred calls release, after the grace, where the state that they
// guard is unharmed, or the package is on the list, or the limit forces it; and none of them else.
func TestThrowPassesDeferredLocks(t *testing.T) {
	noteDeferred()
	both := func(spin func()) { lockedReading(func() { locked(spin) }) }
	for _, c := range []struct {
		name          string
		hold          func(func())
		force, listed bool
		passes        bool
	}{
		{"a lock", lockedDeferred, false, false, false},
		{"a lock, forced", lockedDeferred, true, false, true},
		{"a lock of a package on the list", lockedDeferred, false, true, true},
		{"a lock for reading", lockedReading, false, false, true},
		{"a lock that is lost", callsFresh, false, false, true},
		{"a receiver's lock", lockedOwn, false, false, false},
		{"a lock that no deferred call releases, forced", locked, true, true, false},
		{"one of each, forced", both, true, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.listed {
				unwindable = append(unwindable, "github.com/cocoon-go/cocoon/cocoon")
				defer func() { unwindable = unwindable[:len(unwindable)-1] }()
			}
			rt := start(t, Config{Slots: 1, StallAfter: time.Minute})
			const limit = 5 * time.Millisecond
			stretch := time.Duration(longtest.Count(4, 2)) * releaseGrace // in which a throw that passes the lock would come
			if c.passes {
				stretch = time.Second // it ends sooner, unless the machine is busy
			}
			_, err := rt.RegisterTimeLimit(TimeLimit{Func: "job", Limit: limit, Force: c.force})
			must(t, err)
			inside := false
			begin := time.Now()
			pe := preemption(t, rt.Run(background, "job", func(ctx context.Context) error {
				c.hold(pollFor(stretch, &inside))
				spinPolling()
				return nil
			}))
			if inside == c.passes {
				t.Errorf("thrown at %s: the stretch under the lock ended: %v", pe.Where(), inside)
			}
			if took := time.Since(begin); c.passes && took < limit+releaseGrace {
				t.Errorf("it passed the lock after %v, of which the grace is %v", took, releaseGrace)
			}
			if !isFree(&deferredGuard) || !guard.TryLock() {
				t.Fatal("a lock is left locked")
			}
			guard.Unlock()
		})
	}
}

// A task is never suspended under a lock, however it is released, and is when the lock is free.
func TestNoSuspensionUnderDeferredLocks(t *testing.T) {
	noteDeferred()
	for name, hold := range map[string]func(func()){"a lock": lockedDeferred, "a lock for reading": lockedReading} {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 1, StallAfter: time.Minute})
			must(t, rt.RegisterPreemptibleFunc("job"))
			must(t, rt.RegisterSafeFunc("other"))
			register(t, rt, Policy{Name: "turns", On: Every(time.Millisecond), Expr: "switch()"})
			var under, held atomic.Bool
			must(t, rt.Run(background, "job", func(ctx context.Context) error {
				var other *Handle
				hold(func() {
					under.Store(true)
					other = rt.Go(background, "other", func(context.Context) error { held.Store(under.Load()); return nil })
					for begin := time.Now(); time.Since(begin) < 3*releaseGrace; {
						safepoint.Poll()
					}
					under.Store(false)
				})
				for other.Task().Status() != Returned {
					safepoint.Poll()
				}
				return nil
			}))
			if held.Load() {
				t.Error("another task ran while the lock was held")
			}
		})
	}
}

// Under a lock in a deferred call a task is not suspended for the sake of a throw that would pass
// the lock anywhere else.
func TestNoSuspensionUnderTheLockOfADeferredCall(t *testing.T) {
	noteDeferred()
	noteCleaningUp()
	rt := start(t, Config{Slots: 1, StallAfter: time.Minute})
	must(t, rt.RegisterPreemptibleFunc("job"))
	must(t, rt.RegisterSafeFunc("other"))
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "job", Limit: time.Millisecond, Force: true})
	must(t, err)
	register(t, rt, Policy{Name: "turns", On: Every(time.Millisecond), Expr: "switch()"})
	var under, held atomic.Bool
	done := false
	var other *Handle
	for n := 0; other == nil; n++ { // the limit may come before the first statement
		if n == 100 {
			t.Fatal("the task is always thrown into before it begins")
		}
		preemption(t, rt.Run(background, "job", func(ctx context.Context) error {
			cleaningUp(func() {
				lockedDeferred(func() {
					under.Store(true)
					other = rt.Go(background, "other", func(context.Context) error { held.Store(under.Load()); return nil })
					pollFor(3*releaseGrace, &done)()
					under.Store(false)
				})
			})
			spinPolling()
			return nil
		}))
	}
	must(t, other.Wait(background))
	if held.Load() || !done {
		t.Errorf("another task ran while the lock was held: %v; the deferred call was done: %v", held.Load(), done)
	}
}

// The log says once what keeps a throw that is much too late.
func TestWhatKeepsAThrowIsLogged(t *testing.T) {
	noteDeferred()
	shorter(t, &lateAfter)
	for _, c := range []struct {
		name  string
		hold  func(func())
		pass  func() // what the task does meanwhile
		least time.Duration
		want  []string
	}{
		{"a lock", locked, safepoint.Poll, lateAfter, []string{"by=\"a lock\"", "lock=guard", "cocoon.locked", "masked_test.go:"}},
		{"a deferred lock", lockedDeferred, safepoint.Poll, lateAfter, []string{"by=\"a lock that a deferred call releases\"", "lock=deferredGuard", "cocoon.lockedDeferred", "through_test.go:"}},
		{"no poll", func(spin func()) { spin() }, func() {}, lateAfter + silentFor*time.Duration(longtest.Count(8, 5))/4, []string{"by=\"no safe point\"", "stack="}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var log journal
			rt := start(t, Config{Slots: 1, StallAfter: time.Minute, Logger: log.logger()})
			limit(t, rt, "job")
			const line = "a throw is late"
			rounds := 2 // in the second it logs nothing
			if c.least > lateAfter {
				rounds = longtest.Count(2, 1)
			}
			for range rounds {
				preemption(t, rt.Run(background, "job", func(context.Context) error {
					c.hold(func() {
						for begin := time.Now(); time.Since(begin) < 10*time.Second && log.count(line) == 0 || time.Since(begin) < c.least; {
							c.pass()
						}
					})
					spinPolling()
					return nil
				}))
			}
			eventually(t, "the log", func() bool { return log.count(line) > 0 })
			if n := log.count(line); n != 1 {
				t.Errorf("logged %d times:\n%s", n, &log)
			}
			for _, text := range c.want {
				if log.count(text) == 0 {
					t.Errorf("the log lacks %s:\n%s", text, &log)
				}
			}
		})
	}
}
