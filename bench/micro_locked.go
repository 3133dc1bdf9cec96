package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	_ "unsafe" // for go:linkname

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/safepoint"
)

// microLocked measures how late a time limit stops a loop that holds a lock nearly all the time: 5
// ms in each iteration, with polls all the while, of which only the one between two stretches is a
// safe point. Its peer does the same without the lock.
func microLocked(ctx context.Context, r *report, e effort) error {
	e.span *= 5
	tellLocked()
	got, err := medians(ctx, e, lockedSide(underLock), lockedSide(underNone))
	if err != nil {
		return err
	}
	r.add(result{Name: "locked", Metric: "p50", Value: got[0][0], Unit: "µs"}, claim{})
	r.add(result{Name: "locked", Metric: "p99", Value: got[0][1], Unit: "µs", Peer: "no lock", PeerValue: got[1][1]}, claim{atMost: 1, plus: 2 * float64(lockStretch/time.Microsecond)})
	r.add(result{Name: "locked", Metric: "max", Value: got[0][2], Unit: "µs", Peer: "no lock", PeerValue: got[1][2]}, claim{})
	r.add(result{Name: "locked", Metric: "stretches", Value: got[0][3], Unit: "stretches"}, upTo(1))
	return nil
}

// lockStretch is how long the loop holds the lock at a time.
const lockStretch = 5 * time.Millisecond

var benchLock sync.Mutex

// underLock has its lines recorded as by cocoon build, see tellLocked.
func underLock() {
	benchLock.Lock()
	pollFor(lockStretch)
	benchLock.Unlock()
}

func underNone() { pollFor(lockStretch) }

func pollFor(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		safepoint.Poll()
	}
}

//go:linkname lockedLink github.com/cocoon-go/cocoon/safepoint.lockedLink
var lockedLink func(pkg, file string, lines []int, locks []string, ends, fresh []int)

var tellLocked = sync.OnceFunc(func() {
	f := runtime.FuncForPC(reflect.ValueOf(underLock).Pointer())
	file, line := f.FileLine(f.Entry())
	lockedLink(strings.TrimSuffix(f.Name(), ".underLock"), filepath.Base(file), []int{line + 1, line + 3, safepoint.ByItself}, []string{"benchLock"}, nil, nil)
})

func lockedSide(stretch func()) side {
	return func(ctx context.Context, e effort) (figures, error) {
		const limit = 2 * time.Millisecond
		return withRuntime(cocoon.Config{}, func(rt *cocoon.Runtime) (figures, error) {
			if _, err := rt.RegisterTimeLimit(cocoon.TimeLimit{Func: "locked", Limit: limit}); err != nil {
				return nil, err
			}
			var late []float64
			most := 0.0 // stretches that begin after the limit
			for begin := time.Now(); time.Since(begin) < e.span || len(late) < 100; {
				at, more := time.Now(), -1.0
				err := rt.Run(ctx, "locked", func(context.Context) error {
					for ; ; more++ {
						stretch()
						safepoint.Poll()
					}
				})
				most = max(most, more)
				late = append(late, float64(time.Since(at)-limit)/1e3)
				if preempted := (*cocoon.PreemptedError)(nil); !errors.As(err, &preempted) {
					return nil, fmt.Errorf("a task over its time limit returned %v; want a PreemptedError", err)
				}
			}
			f, err := quantiles(late)
			return append(f, slices.Max(late), most), err
		})
	}
}
