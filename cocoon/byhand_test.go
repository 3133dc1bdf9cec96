package cocoon

import (
	"context"
	"reflect"
	"runtime"
	"sync"
	"testing"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/safepoint"
)

// byHandLink is a function that rewritten packages call.
//
//go:linkname byHandLink github.com/cocoon-go/cocoon/safepoint.byHandLink
var byHandLink func(pkg, file string, lines []int)

// owning is a function with lines recorded by rewriting. It releases a resource by no deferred
// call.
func owning(use func(), owns *bool) {
	*owns = true
	use()
	*owns = false
}

// inTurns does the same several times.
func inTurns(use func(), times int, owns *bool) {
	for range times {
		*owns = true
		use()
		*owns = false
	}
}

var noteOwning = sync.OnceFunc(func() {
	noteDeferred()
	for _, f := range []struct {
		of   any
		line int
	}{{owning, 2}, {inTurns, 3}} {
		at := runtime.FuncForPC(reflect.ValueOf(f.of).Pointer())
		_, line := at.FileLine(at.Entry())
		byHandLink("github.com/cocoon-go/cocoon/cocoon", "byhand_test.go", []int{line + f.line, line + f.line})
	}
})

// A throw waits for the release of a resource that no deferred call releases, and comes at the next
// safe point behind the release.
func TestThrowWaitsForAReleaseByHand(t *testing.T) {
	noteOwning()
	rt := start(t, Config{Slots: 1, StallAfter: time.Minute})
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "job", Limit: 2 * time.Millisecond})
	must(t, err)
	for range longtest.Count(20, 8) {
		owns, done := false, false
		begin := time.Now()
		preemption(t, rt.Run(background, "job", func(context.Context) error {
			owning(pollFor(8*time.Millisecond, &done), &owns)
			spinPolling()
			return nil
		}))
		// on a busy machine the stretch may take longer than a throw waits
		if took := time.Since(begin); owns && took < releaseGrace {
			t.Fatalf("it was thrown after %v, and the resource was not released", took)
		}
	}
}

// The time between two polls does not count in full: the task may have lost its core.
func TestThrowWaitsForAReleaseByHandOfATaskThatRuns(t *testing.T) {
	noteOwning()
	rt := start(t, Config{Slots: 1, StallAfter: time.Minute})
	owns, under := false, make(chan struct{})
	h := rt.Go(background, "job", func(context.Context) error {
		owning(func() {
			close(under)
			for begin := time.Now(); time.Since(begin) < releaseGrace/4; {
				safepoint.Poll()
			}
			time.Sleep(2 * releaseGrace)
			safepoint.Poll()
		}, &owns)
		spinPolling()
		return nil
	})
	<-under
	h.Cancel()
	preemption(t, h.Wait(background))
	if owns {
		t.Error("it was thrown at the first poll behind a pause, and the resource was not released")
	}
}

// A throw waits for a while, and no longer: for one long stretch, and for many stretches with other
// stacks, and although the task waits at the end of the time.
func TestThrowWaitsForAReleaseByHandNoLonger(t *testing.T) {
	noteOwning()
	endless := func() {
		for {
			safepoint.Poll()
		}
	}
	for name, use := range map[string]func(){
		"a loop":    endless,
		"recursion": func() { climb(0) },
		"a lock":    func() { lockedReading(endless) },
		"waits": func() {
			for {
				safepoint.Poll()
				time.Sleep(3 * time.Millisecond)
			}
		},
		"a long wait": func() {
			for begin := time.Now(); time.Since(begin) < releaseGrace/2; {
				safepoint.Poll()
			}
			time.Sleep(2 * releaseGrace)
			endless()
		},
	} {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 1, StallAfter: time.Minute})
			owns, under := false, make(chan struct{})
			h := rt.Go(background, "job", func(context.Context) error {
				owning(func() { close(under); use() }, &owns)
				return nil
			})
			<-under
			begin := time.Now()
			h.Cancel()
			pe := preemption(t, h.Wait(background))
			took := time.Since(begin)
			if !owns || took < releaseGrace {
				t.Errorf("it was thrown at %s after %v, and had the resource: %v", pe.Where(), took, owns)
			}
			if took > 3*releaseGrace+patience/10 { // on a busy machine it runs a part of the time
				t.Errorf("it was thrown after %v; a throw waits for %v", took, releaseGrace)
			}
		})
	}
}

// climb polls with ever different stacks.
func climb(depth int) {
	safepoint.Poll()
	for range depth % 50 {
		if depth < 200 {
			climb(depth + 1)
		}
		safepoint.Poll()
	}
	for depth == 0 {
		climb(1)
	}
}

// A throw between two stretches waits for nothing.
func TestThrowComesBetweenReleasesByHand(t *testing.T) {
	noteOwning()
	rt := start(t, Config{Slots: 1, StallAfter: time.Minute})
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "job", Limit: 5 * time.Millisecond})
	must(t, err)
	owns, done := false, false
	preemption(t, rt.Run(background, "job", func(context.Context) error {
		for {
			inTurns(pollFor(100*time.Microsecond, &done), 1, &owns)
			safepoint.Poll()
		}
	}))
	if owns {
		t.Error("the resource was not released")
	}
}

// A task may be switched out while it has such a resource.
func TestSuspensionWithAResource(t *testing.T) {
	noteOwning()
	rt := start(t, Config{Slots: 1, StallAfter: time.Minute})
	must(t, rt.RegisterPreemptibleFunc("job"))
	must(t, rt.RegisterSafeFunc("other"))
	register(t, rt, Policy{Name: "turns", On: Every(time.Millisecond), Expr: "switch()"})
	during := false
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		owns := false
		owning(func() {
			other := rt.Go(background, "other", func(context.Context) error { return nil })
			for end := time.Now().Add(5 * time.Second); !during && time.Now().Before(end); {
				safepoint.Poll()
				during = other.Task().Status() == Returned
			}
		}, &owns)
		return nil
	}))
	if !during {
		t.Error("the task was not switched out")
	}
}
