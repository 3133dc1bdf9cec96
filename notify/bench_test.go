package notify

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func BenchmarkNow(b *testing.B) {
	for range b.N {
		Now()
	}
}

// BenchmarkWakeAt measures what WakeAt costs its caller: when the timer is due earlier anyway, when
// it is due later but the thread is awake or soon will be, and when the thread must be woken.
func BenchmarkWakeAt(b *testing.B) {
	b.Run("due earlier", func(b *testing.B) {
		timer, _ := reporting(b, newSleeper(), once)
		timer.WakeAt(Now() + int64(time.Hour))
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			timer.WakeAt(Never - 1)
		}
	})
	b.Run("wakes the thread", func(b *testing.B) {
		timer, runs := reporting(b, newSleeper(), once)
		timer.WakeAt(0)
		await(b, runs, "first run")
		b.ReportAllocs()
		b.ResetTimer()
		var spent int64
		for range b.N {
			awaitAsleep(b, timer)
			start := Now()
			timer.WakeAt(start)
			spent += Now() - start
			<-runs
		}
		b.ReportMetric(float64(spent)/float64(b.N), "ns/wake")
	})
}

// BenchmarkTickLateness measures how late a tick of 100 µs is while goroutines that never block
// spin on every P except the spare ones: for the timer, and for time.Ticker in comparison. One
// iteration is one tick.
func BenchmarkTickLateness(b *testing.B) {
	const every = int64(100 * time.Microsecond)
	for _, source := range []struct {
		name string
		tick func(n int, late func(at, now int64))
	}{
		{"timer", func(n int, late func(at, now int64)) {
			next, done := Now()+every, make(chan struct{})
			timer := NewTimer(func(now int64) int64 {
				if now < next {
					return next
				}
				late(next, now)
				if n--; n == 0 {
					close(done)
					return Never
				}
				next = after(next, now, every)
				return next
			})
			defer timer.Close()
			timer.WakeAt(next)
			<-done
		}},
		{"ticker", func(n int, late func(at, now int64)) {
			ticker := time.NewTicker(time.Duration(every))
			defer ticker.Stop()
			next := Now() + every
			for range n {
				<-ticker.C
				now := Now()
				late(next, now)
				next = after(next, now, every)
			}
		}},
	} {
		for _, spare := range []int{0, 1, 2} {
			b.Run(fmt.Sprintf("%s/busy=%d/spare=%d", source.name, runtime.NumCPU(), spare), func(b *testing.B) {
				defer spinning(runtime.NumCPU(), spare)()
				lateness := make([]int64, 0, b.N)
				b.ResetTimer()
				source.tick(b.N, func(at, now int64) { lateness = append(lateness, now-at) })
				b.StopTimer()
				slices.Sort(lateness)
				for _, q := range []struct {
					unit string
					at   int
				}{{"p50-µs", b.N / 2}, {"p99-µs", b.N * 99 / 100}, {"max-µs", b.N - 1}} {
					b.ReportMetric(float64(max(lateness[q.at], 0))/1e3, q.unit)
				}
				b.ReportMetric(0, "ns/op") // the interval, not a cost
			})
		}
	}
}

// after returns the first tick of the series next, next+every, ... after now.
func after(next, now, every int64) int64 {
	next += every
	if next <= now {
		next += (now-next)/every*every + every
	}
	return next
}

// spinning keeps n goroutines busy on n+spare Ps until the returned function is called.
func spinning(n, spare int) (stop func()) {
	procs := runtime.GOMAXPROCS(n + spare)
	var stopped atomic.Bool
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for !stopped.Load() {
			}
		})
	}
	return func() {
		stopped.Store(true)
		wg.Wait()
		runtime.GOMAXPROCS(procs)
	}
}
