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

// What rewritten packages call.
//
//go:linkname holdLink github.com/cocoon-go/cocoon/safepoint.holdLink
var holdLink func(pkg, file string, lines []int)

var guard sync.Mutex

// locked is a function of which rewriting has noted its lines.
func locked(spin func()) {
	guard.Lock()
	spin()
	guard.Unlock()
}

func noteLocked() {
	f := runtime.FuncForPC(reflect.ValueOf(locked).Pointer())
	_, line := f.FileLine(f.Entry())
	holdLink("github.com/cocoon-go/cocoon/cocoon", "masked_test.go", []int{line + 1, line + 3})
}

// pollFor polls as rewritten code does, and tells whether it got to the end.
func pollFor(d time.Duration, done *bool) func() {
	return func() {
		for end := time.Now().Add(d); time.Now().Before(end); {
			safepoint.Poll()
		}
		*done = true
	}
}

// A throw waits until no lock is held, and no sync.Once is in the midst of its function; it does not wait for those that are
// outside of the section that catches it.
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
