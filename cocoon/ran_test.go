package cocoon

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/kernel"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/notify"
)

// A task that waits in its slot does not run, even if no other task needs the slot: a limit on its
// running time does not throw, and its account says that it waited.
func TestWaitingIsNotRunning(t *testing.T) {
	t.Parallel() // most of its time is a wait
	rt := start(t, Config{Slots: 2})
	goroutine.Learn()
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "s", Limit: 150 * time.Millisecond})
	must(t, err)
	h := rt.Go(background, "waits", func(ctx context.Context) error {
		return inSection(ctx, "s", func() error {
			for range 20 {
				time.Sleep(20 * time.Millisecond)
				SafePoint(ctx)
			}
			return nil
		})
	})
	must(t, h.Wait(background))
	if a := h.Account(); a.Running > 150*time.Millisecond || a.Blocked+a.Starved < 250*time.Millisecond {
		t.Errorf("%+v of a task that slept for 400 ms", a)
	}
}

// A task that waits for long is rarely looked at. It does not count as running between two looks,
// although other tasks keep the processors busy, and hardly if it was woken meanwhile.
func TestLongWaitIsNotRunning(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	goroutine.Learn()
	if _, ok := goroutine.Leaves(); !ok {
		t.Skip("goroutines do not say how often they have stopped running")
	}
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "waits", Limit: time.Hour}) // the timer does not look
	must(t, err)
	wake := make(chan struct{})
	h := rt.Go(background, "waits", func(ctx context.Context) error {
		for range wake {
		}
		return nil
	})
	l := rt.Loop()
	look := func() (ran time.Duration) {
		eventually(t, "the wait", func() (waits bool) {
			l.lockAll()
			defer l.unlock()
			l.running(func(s *strand) bool { waits = s.status() == goroutine.Waiting; return true })
			return waits
		})
		l.lockAll()
		defer l.unlock()
		now := notify.Now()
		l.running(func(s *strand) bool {
			k := s.checked()
			k.cpuAt = max(1, k.cpuAt) // as if it were not the first sample
			l.sampleRan(l.leads.Load(), now, 0, cpuSample{used: now, procs: 2, expected: true})
			ran = time.Duration(s.core.Ran(now))
			return true
		})
		return ran
	}
	before := look()
	time.Sleep(100 * time.Millisecond)
	waited := look()
	if d := waited - before; d > time.Millisecond {
		t.Errorf("a wait of 100 ms counts as %v of running", d)
	}
	wake <- struct{}{}
	time.Sleep(100 * time.Millisecond)
	if d := look() - waited; d > time.Duration(sampleRunning)+time.Millisecond {
		t.Errorf("a wait of 100 ms, with one interruption, counts as %v of running", d)
	}
	close(wake)
	must(t, h.Wait(background))
}

// The same for a limit shorter than the time between two samples of a long one.
func TestWaitingIsNotRunningForAShortLimit(t *testing.T) {
	t.Parallel() // most of its time is a wait
	rt := start(t, Config{Slots: 2})
	goroutine.Learn()
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "waits", Limit: 8 * time.Millisecond})
	must(t, err)
	const tasks = 20
	thrown := 0
	for range tasks {
		h := rt.Go(background, "waits", func(ctx context.Context) error {
			time.Sleep(30 * time.Millisecond)
			if ctx.Err() != nil {
				t.Error("its context has ended")
			}
			SafePoint(ctx)
			return nil
		})
		if err := h.Wait(background); err != nil {
			t.Logf("%v; %+v", err, h.Account())
			thrown++
		}
	}
	if thrown > tasks/4 { // on a crowded machine samples are late
		t.Errorf("%d of %d tasks were thrown", thrown, tasks)
	}
}

// A task that waits at each look, and has run in between, is looked at as often as one that runs: a
// rare look takes off most of the time in which it may have run. A wait that lasts is looked at
// rarely.
func TestNewWaitIsLookedAtSoon(t *testing.T) {
	const lead, every = int64(8 * time.Millisecond), int64(time.Millisecond)
	rt := start(t, Config{Slots: 1})
	goroutine.Learn()
	wake := make(chan struct{})
	h := rt.Go(background, "waits", func(context.Context) error {
		for range wake {
		}
		return nil
	})
	l := rt.Loop()
	var now int64
	look := func() (after int64) {
		eventually(t, "the task to wait", func() bool {
			l.lockAll()
			defer l.unlock()
			l.running(func(s *strand) bool {
				if s.status() == goroutine.Waiting {
					now = max(now, notify.Now()) + every
					after = s.sampleRan(lead, now, 0, cpuSample{}) - now
				}
				return true
			})
			return after > 0
		})
		return after
	}
	look()
	if _, known := goroutine.LeavesOf(goroutine.ID()); !known {
		t.Skip("this platform does not tell whether a goroutine has waited")
	}
	for range 3 {
		wake <- struct{}{}
		if after := look(); after > 2*every {
			t.Errorf("the next look at a new wait comes after %v", time.Duration(after))
		}
	}
	if after := look(); after < 2*every {
		t.Errorf("the next look at a wait that goes on comes after %v", time.Duration(after))
	}
	close(wake)
	must(t, h.Wait(background))
}

// A limit throws into a running task in time while the process has other work: samples subtract
// nothing.
func TestRunningIsRunning(t *testing.T) {
	rt := start(t, Config{Slots: 2})
	goroutine.Learn()
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "s", Limit: 100 * time.Millisecond})
	must(t, err)
	h := rt.Go(background, "runs", func(ctx context.Context) error {
		return inSection(ctx, "s", func() error { return spinForever(ctx) })
	})
	pe := preemption(t, h.Wait(background))
	a := h.Account()
	if pe.Running < 100*time.Millisecond {
		t.Errorf("thrown after %v: %v", pe.Running, pe)
	}
	if most := a.Running + patience/4; a.Starved > most {
		t.Errorf("%+v", a)
	}
}

// A task that a ticker wakes for a moment is not charged for the time in between, although the
// timer of the sampler and the ticker may coincide.
func TestTickerIsNotRunning(t *testing.T) {
	t.Parallel() // most of its time is a wait
	rt := start(t, Config{Slots: 2})
	goroutine.Learn()
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "s", Limit: 100 * time.Millisecond})
	must(t, err)
	h := rt.Go(background, "stream", func(ctx context.Context) error {
		return inSection(ctx, "s", func() error {
			ticker := time.NewTicker(10 * time.Millisecond)
			defer ticker.Stop()
			for range 60 {
				<-ticker.C
				SafePoint(ctx)
			}
			return nil
		})
	})
	if err := h.Wait(background); err != nil {
		t.Errorf("%v; %+v", err, h.Account())
	}
}

// If the timer fires much too late, a task has run for at most its share of the processor time of
// the process. Otherwise the task may have had all of it, and a delay as Go itself causes it proves
// nothing.
func TestLateTimerSharesTheProcessors(t *testing.T) {
	rt := start(t, Config{Slots: 2})
	goroutine.Learn()
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "s", Limit: time.Hour})
	must(t, err)
	stop := make(chan struct{})
	two := []*Handle{}
	for range 2 {
		two = append(two, rt.Go(background, "runs", func(ctx context.Context) error {
			return inSection(ctx, "s", func() error { spin(ctx, stop); return nil })
		}))
	}
	for _, h := range two {
		eventually(t, "the task to run for a while", func() bool { return h.Account().Running > 100*time.Millisecond })
	}
	l := rt.Loop()
	for late, off := range map[int64]int64{tooLate / 2: 0, tooLate: tooLate / 2} {
		l.lockAll()
		now := notify.Now()
		before := map[*strand]int64{}
		l.running(func(s *strand) bool {
			before[s] = s.core.Ran(now)
			s.sampled = now - tooLate
			k := s.checked()
			k.ranAt, k.cpuAt = before[s]-tooLate, 1 // as if it were not the first sample
			return true
		})
		l.sampleRan(l.leads.Load(), now, late, cpuSample{used: 1 + tooLate, expected: true})
		for s, ran := range before {
			// If the goroutine is found without a P, more is subtracted.
			if got := ran - s.core.Ran(now); got != off && got < tooLate {
				t.Errorf("%v taken off where the timer came %v late, want %v", time.Duration(got), time.Duration(late), time.Duration(off))
			}
		}
		l.unlock()
	}
	close(stop)
	for _, h := range two {
		must(t, h.Wait(background))
	}
}

// A task is charged an equal share of the process's processor time if the process got less of it
// than its goroutines could use, and otherwise all of it.
func TestShareOfTheProcess(t *testing.T) {
	const ms = int64(time.Millisecond)
	for name, c := range map[string]struct {
		sharers   float64
		ran, used int64
		share     int64
	}{
		"alone, served":                    {1, 10 * ms, 10 * ms, 10 * ms},
		"alone, the core went elsewhere":   {1, 10 * ms, 4 * ms, 4 * ms},
		"unknown":                          {0, 10 * ms, 4 * ms, 4 * ms},
		"two on two cores":                 {2, 10 * ms, 20 * ms, 10 * ms},
		"two on two cores, nearly":         {2, 10 * ms, 19 * ms, 10 * ms},
		"one, and one for half the time":   {1.5, 10 * ms, 15 * ms, 10 * ms},
		"four Ps on two cores":             {4, 10 * ms, 20 * ms, 5 * ms},
		"two on two cores that others use": {2, 10 * ms, 8 * ms, 4 * ms},
		"forty on two cores":               {40, 10 * ms, 20 * ms, ms / 2},
	} {
		if share := (&cpuSample{sharers: c.sharers}).share(c.ran, c.used); share != c.share {
			t.Errorf("%s: %v; want %v", name, time.Duration(share), time.Duration(c.share))
		}
	}
}

// A reading of the processor time serves all tasks that give up their slots within freshCPU, and
// is a bound for each.
func TestCrowdSharesAReading(t *testing.T) {
	var past pastCPU
	now, procs := notify.Now(), int64(runtime.GOMAXPROCS(0))
	first := past.recent(now)
	if second := past.recent(now + freshCPU); second.used != first.used+freshCPU*procs {
		t.Errorf("after %v the bound rose by %d ns; want all %d Ps", time.Duration(freshCPU), second.used-first.used, procs)
	}
	if earlier := past.recent(now - 1); earlier.used != first.used {
		t.Errorf("for an earlier time the bound is %d ns away from the reading", earlier.used-first.used)
	}
	for range 1000 { // use some processor time, so that a new reading differs
		kernel.ProcessCPU()
	}
	used := kernel.ProcessCPU()
	if third := past.recent(now + freshCPU + 1); third.used < used || third.used > kernel.ProcessCPU() {
		t.Errorf("the bound %d ns is not a new reading; it would be at least %d ns", third.used, used)
	}
}

// The first sample of a task charges it only with what the process can have used since the task
// began, however long ago the processor time was read.
func TestFirstShare(t *testing.T) {
	const ms = int64(time.Millisecond)
	for name, c := range map[string]struct {
		cpu  cpuSample
		want int64
	}{
		"a crowd, read before it began":  {cpuSample{past: readAt(400*ms, 0), used: 1200 * ms, sharers: 32, procs: 2}, 1 * ms},
		"a crowd, read since":            {cpuSample{past: readAt(1008*ms, 1000*ms), used: 1016 * ms, sharers: 32, procs: 2}, 1 * ms},
		"alone, read before it began":    {cpuSample{past: readAt(400*ms, 0), used: 1200 * ms, sharers: 1, procs: 2}, 16 * ms},
		"alone, the core went elsewhere": {cpuSample{past: readAt(1000*ms, 0), used: 4 * ms, sharers: 1, procs: 2}, 4 * ms},
		"a crowd, never read":            {cpuSample{used: 8 * ms, sharers: 4, procs: 2}, 8 * ms},
	} {
		s := &strand{sampled: 1000 * ms}
		if got := s.served(1016*ms, &c.cpu); got != c.want {
			t.Errorf("%s: %v; want %v", name, time.Duration(got), time.Duration(c.want))
		}
	}
}

// Looks at which the processor time is not read count as running. The next reading takes off what
// the process cannot have had since the previous one, also before the latest look.
func TestReadingSettlesEarlierLooks(t *testing.T) {
	const ms = int64(time.Millisecond)
	whileRunning(t, start(t, Config{Slots: 1}), func(s *strand) {
		begin := max(s.core.Since(), notify.Now()-s.core.Ran(notify.Now()))
		s.sampled = begin
		s.checked().cpuAt, s.checked().ranAt = ms, s.core.Ran(begin)
		for now := begin + 10*ms; now <= begin+30*ms; now += 10 * ms {
			s.checked().waited = false // the looks follow at once: it may have had no P since the last
			s.sampleRan(500*ms, now, 0, cpuSample{})
		}
		s.checked().waited = false
		s.sampleRan(500*ms, begin+100*ms, 0, cpuSample{used: 21 * ms, procs: 2, expected: true})
		if ran := s.core.Ran(begin + 100*ms); ran > 21*ms && s.status() == goroutine.Running {
			t.Errorf("ran %v; the process used 20ms", time.Duration(ran))
		}
	})
}

// TestSamplesNeedReadings checks that samples come with a reading of the processor time when the
// time since the last one is as long as samples are apart, even if other work of the timer has made
// a reading shortly before each.
func TestSamplesNeedReadings(t *testing.T) {
	if !kernel.ExactCPU {
		t.Skip("the system does not tell the processor time exactly")
	}
	const ms = int64(time.Millisecond)
	for limit, c := range map[string]struct{ first, later int64 }{
		"500ms": {500 * ms / 8, oldCPU},
		"20ms":  {20 * ms / 8, 20 * ms / 8},
	} {
		rt := start(t, Config{Slots: 1})
		must(t, newPolicyFile(t).load(t, rt, "policies:\n- {name: limit, every: 1ms, expr: 'task.running > duration(\""+limit+
			"\") and task.priority == 7 ? throw(\"long\") : continue()'}\n"))
		whileRunning(t, rt, func(s *strand) {
			l, k, begin := s.loop, s.loop.leads.Load(), s.core.Since()
			if s.checks != nil {
				*s.checks = checks{}
			}
			s.sampled = begin
			for _, at := range []struct {
				now  int64
				want bool
			}{
				{begin + c.first - 1, false}, {begin + c.first, true},
			} {
				if got := l.needsReading(k, at.now); got != at.want {
					t.Errorf("limit %s: the first sample, %v after the task began, needs a reading: %t; want %t", limit, time.Duration(at.now-begin), got, at.want)
				}
			}
			now := begin + c.first
			s.sampledTo(now, ms, cpuSample{used: ms, procs: 1, expected: true})
			s.sampledTo(now+c.later-ms, ms, cpuSample{}) // without a reading
			if l.needsReading(k, now+c.later-1) || !l.needsReading(k, now+c.later) {
				t.Errorf("limit %s: the samples need no reading %v after the last", limit, time.Duration(c.later))
			}
		})
	}
}

// A task that computes is measured by its thread's time from a safe point on, once it has run for an
// eighth of its lead. It is not where no time policy can act.
func TestSafePointBeginsAStretch(t *testing.T) {
	goroutine.Learn()
	if !kernel.ThreadTells || !goroutine.CanTell() {
		t.Skip("the system does not tell a thread's processor time, or the status of goroutines")
	}
	for name, c := range map[string]struct {
		limit    string
		measures bool
	}{"a limit of 80ms": {"80ms", true}, "a limit of an hour": {"1h", false}} {
		rt := start(t, Config{Slots: 1})
		must(t, newPolicyFile(t).load(t, rt, "policies:\n- {name: limit, every: 1ms, expr: 'task.running > duration(\""+c.limit+
			"\") and task.priority == 7 ? throw(\"long\") : continue()'}\n"))
		little := time.Duration(longtest.Count(200, 50)) * time.Millisecond
		must(t, rt.Run(background, "job", func(ctx context.Context) error {
			s, begin := strandOf(ctx), time.Now()
			measured := func() bool { return s.stacks.Load().inStretch() }
			ran := int64(0) // at most: the beginning takes back time that the task had no processor
			for !measured() && time.Since(begin) < little || c.measures && !measured() && time.Since(begin) < patience {
				ran = max(ran, s.running(notify.Now()))
				SafePoint(ctx)
			}
			if measured() != c.measures {
				t.Errorf("%s: after %v in a stretch: %t; want %t", name, time.Since(begin), !c.measures, c.measures)
			}
			if c.measures && ran < int64(time.Millisecond) {
				t.Errorf("%s: measured after %v", name, time.Duration(ran))
			}
			return nil
		}))
	}
}

// A wake-up of the timer that comes too early for a reading leaves the decision to the samples.
func TestEarlySampleNamesItsClock(t *testing.T) {
	if !kernel.ExactCPU {
		t.Skip("the system does not tell the processor time exactly")
	}
	var clock cpuClock
	now := notify.Now()
	if s := clock.sample(now, false); s.early != nil || !s.expected {
		t.Errorf("the first reading: %+v", s)
	}
	s := clock.sample(now+oldCPU-1, false)
	if s.early != &clock || s.expected {
		t.Fatalf("too early for a reading: %+v", s)
	}
	if again := s.early.read(now+oldCPU-1, false); !again.expected {
		t.Errorf("the reading that a sample needs: %+v", again)
	}
}

// whileRunning calls f under the loop's lock, with a task that runs and does not wait.
func whileRunning(t *testing.T, rt *Runtime, f func(s *strand)) {
	t.Helper()
	goroutine.Learn()
	stop := make(chan struct{})
	h := rt.Go(background, "runs", func(ctx context.Context) error { spin(ctx, stop); return nil })
	l := rt.Loop()
	eventually(t, "the task to run", func() bool { l.lockAll(); defer l.unlock(); return l.busy == 1 })
	l.lockAll()
	l.running(func(s *strand) bool { f(s); return true })
	l.unlock()
	close(stop)
	must(t, h.Wait(background))
}

// readAt returns the readings of a clock that was read once.
func readAt(at, used int64) *pastCPU {
	p := new(pastCPU)
	p.add(at, used)
	return p
}

// A process with a fifth of a processor runs on two for 10 ms, and stands still for 90. Meanwhile
// its timer reads the processor time whenever it can. A task that began in an earlier period used
// at most what the process has, although both processors were busy at the last readings.
func TestThrottledBeforeTheFirstSample(t *testing.T) {
	const ms = int64(time.Millisecond)
	var past pastCPU
	begin, used := 1000*ms, int64(0)
	for now := begin; now < begin+400*ms; now += ms / 2 {
		at := (now - begin) % (100 * ms)
		if at > 10*ms {
			continue
		}
		past.add(now, used)
		for _, from := range []int64{30 * ms, 105 * ms, 170 * ms, 250 * ms} {
			if now <= begin+from {
				continue
			}
			most := used - 20*ms*(from/(100*ms)) - min(2*(from%(100*ms)), 20*ms) + 10*ms
			got, read := (&cpuSample{used: used, past: &past, procs: 2}).usedSince(begin+from, now)
			if !read || got > most {
				t.Fatalf("%v after the begin, since %v: %v (%v), want %v at most", time.Duration(now-begin),
					time.Duration(from), time.Duration(got), read, time.Duration(most))
			}
		}
		used += ms // on both
	}
}

// Short requests that want a P at a task's first look put its first sample off, and take no running
// time off if they have ended at a later look. A crowd that stays takes its share of all the time
// since the task began, after putOffs looks at the latest.
func TestFirstSampleIsPutOff(t *testing.T) {
	const ms = int64(time.Millisecond)
	for name, c := range map[string]struct {
		wanting []int64 // a P, at each look
		used    float64 // processor time of the process, as a part of the real time
		off     int64
	}{
		"alone":                    {[]int64{1}, 1, 0},
		"short requests":           {[]int64{5, 1}, 1, 0},
		"more short requests":      {[]int64{5, 3, 4, 1}, 1, 0},
		"a crowd":                  {[]int64{4, 4, 5, 4, 4}, 1, 24 * ms * 3 / 4},
		"half of a core is had":    {[]int64{2, 2, 2, 3, 2}, 1, 24 * ms / 2},
		"the process is throttled": {[]int64{2}, 0.25, 16 * ms * 7 / 8},
	} {
		rt := start(t, Config{Slots: 1})
		_, err := rt.RegisterTimeLimit(TimeLimit{Func: "s", Limit: 128 * time.Millisecond})
		must(t, err)
		whileRunning(t, rt, func(s *strand) {
			s.checks = nil
			begin := s.core.Since()
			s.sampled = begin
			var clock cpuClock
			for i, n := range c.wanting {
				now := begin + 16*ms + int64(i)*2*ms
				clock.sharers.add(now, n)
				cpu := cpuSample{used: ms + int64(c.used*float64(now-begin)), past: readAt(begin, ms), procs: 1, expected: true, readings: &clock.sharers}
				ran := s.core.Ran(now)
				s.checked().waited = false // the looks follow at once: it may have had no P since the last
				next := s.sampleRan(128*ms, now, 0, cpu)
				last := i == len(c.wanting)-1
				if put := s.sampled != now; put == last {
					t.Errorf("%s: look %d: put off %v", name, i, put)
				}
				if !last && next != now+2*ms {
					t.Errorf("%s: look %d: the next is %v later, want 2ms", name, i, time.Duration(next-now))
				}
				// If the goroutine is found without a P, more is taken off.
				if off := ran - s.core.Ran(now); last && (off < c.off-ms/10 || off > c.off+ms/10) && s.status() == goroutine.Running {
					t.Errorf("%s: %v taken off, want %v", name, time.Duration(off), time.Duration(c.off))
				}
			}
		})
	}
}
