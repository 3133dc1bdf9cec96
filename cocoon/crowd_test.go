package cocoon

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// withProcs sets GOMAXPROCS for the test.
func withProcs(t *testing.T, n int) {
	was := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(was) })
}

// count counts to n.
func count(n int64) (x int64) {
	for i := range n {
		x = x*6364136223846793005 + i
	}
	return x
}

// perMillisecond returns how far count counts in a millisecond, at its fastest.
func perMillisecond() int64 {
	const n = 1_000_000
	best := time.Hour
	for range 20 {
		begin := time.Now()
		sink.Add(count(n))
		best = min(best, time.Since(begin))
	}
	return int64(n * float64(time.Millisecond) / float64(best))
}

var sink atomic.Int64

// TestInnocentsInACrowd: tasks that have run for a fifth of their limit are not thrown, however
// many goroutines of the program compete for the processors. A task that goes on is.
func TestInnocentsInACrowd(t *testing.T) {
	withProcs(t, 2)
	rt := start(t, Config{Slots: 2, QuietThrows: true})
	for name, ms := range map[string]int{"innocent": 50, "endless": longtest.Count(50, 10)} {
		_, err := rt.RegisterTimeLimit(TimeLimit{Func: name, Limit: time.Duration(ms) * time.Millisecond})
		must(t, err)
	}
	ms := perMillisecond()
	var over atomic.Bool
	var crowd sync.WaitGroup
	defer crowd.Wait()
	defer over.Store(true)
	for range longtest.Count(30, 14) {
		crowd.Go(func() { busy(1, &over) })
	}
	innocents := func() (thrown int64) {
		var all sync.WaitGroup
		var n atomic.Int64
		for range 2 {
			all.Go(func() {
				for range 2 {
					if err := rt.Run(background, "innocent", func(ctx context.Context) error {
						for range 100 {
							sink.Add(count(ms / 10))
							SafePoint(ctx)
						}
						return nil
					}); err != nil {
						t.Logf("after 10 ms of work: %v", err)
						n.Add(1)
					}
				}
			})
		}
		all.Wait()
		return n.Load()
	}
	// Other processes take processors as well, and the samples cannot tell from which task.
	n := innocents()
	for range 3 {
		if n > 1 {
			n = innocents()
		}
	}
	if n > 1 {
		t.Errorf("%d of 4 innocents were thrown", n)
	}
	if err := rt.Run(background, "endless", spinForever); err == nil {
		t.Error("an endless task was not thrown")
	}
}

// TestOneSlotOnOneProc: on a loop of one slot, and with one P, a task that never passes a safe
// point loses its slot after StallAfter. When the timer looks, the task never runs: the timer has
// its P.
func TestOneSlotOnOneProc(t *testing.T) {
	withProcs(t, 1)
	rt := start(t, Config{KeepProcs: true})
	l, err := rt.NewLoop(LoopConfig{Name: "one", Slots: 1})
	must(t, err)
	var over atomic.Bool
	var all sync.WaitGroup
	defer all.Wait()
	defer over.Store(true)
	begun := make(chan struct{})
	all.Go(func() {
		l.Run(background, "endless", func(context.Context) error { close(begun); busy(1, &over); return nil })
	})
	<-begun
	begin := time.Now()
	must(t, l.Run(background, "short", nothing))
	if waited := time.Since(begin); waited > patience/2 {
		t.Errorf("the other task waited for %v", waited)
	}
}
