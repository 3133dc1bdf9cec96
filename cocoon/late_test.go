package cocoon

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/notify"
)

// A task that has its slot, and whose function has not begun, has not run: neither for the timer,
// nor where it makes up for missed policies.
func TestStartingIsNotRunning(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "job", Limit: time.Second})
	must(t, err)
	const waits = 30 * time.Millisecond
	for name, sample := range map[string]func(s *strand, now int64){
		"timer":  func(s *strand, now int64) { s.sampleRan(int64(time.Second), now, 0, cpuSample{}) },
		"missed": func(s *strand, now int64) { s.excuse(now, now) },
	} {
		h := rt.Go(background, "job", func(ctx context.Context) error {
			s := strandOf(ctx)
			for s.running(notify.Now()) < int64(waits) {
			}
			rt.Loop().lockAll()
			defer rt.Loop().unlock()
			s.task.status.Store(uint32(Starting))
			s.sampled = s.core.Since()
			now := notify.Now()
			sample(s, now)
			s.task.status.Store(uint32(Started))
			if ran := time.Duration(s.core.Ran(now)); ran > waits/10 {
				t.Errorf("%s: a task that has not begun has run for %v", name, ran)
			}
			return nil
		})
		must(t, h.Wait(background))
	}
}

// A task that gives up its slot long after its last sample, while goroutines wait for Ps, has run
// for two intervals between samples at most, as far as is known.
func TestLateSampleInACrowd(t *testing.T) {
	withProcs(t, 2)
	rt := start(t, Config{Slots: 1})
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "job", Limit: time.Minute})
	must(t, err)
	const span = 60 * time.Millisecond
	h := rt.Go(background, "job", func(ctx context.Context) error {
		s, l := strandOf(ctx), rt.Loop()
		for s.running(notify.Now()) < int64(span) {
		}
		var over atomic.Bool
		var crowd sync.WaitGroup
		defer crowd.Wait()
		defer over.Store(true)
		for range 6 {
			crowd.Go(func() { busy(1, &over) })
		}
		eventually(t, "the crowd", rt.cpu.past.crowded)
		l.lockAll()
		defer l.unlock()
		now := notify.Now()
		before := s.core.Ran(now)
		s.sampled = now - int64(span)
		s.checked().looked, s.checked().cpuAt = false, 0
		s.sampleLate(now)
		off, want := time.Duration(before-s.core.Ran(now)), span-time.Duration(2*sampleRunning)
		if off < want || off > span {
			t.Errorf("a task that may have lost its P: %v of %v subtracted, want %v", off, span, want)
		}
		return nil
	})
	must(t, h.Wait(background))
}
