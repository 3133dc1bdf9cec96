package cocoon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// refusing returns a runtime that refuses every task, for a reason that reads the task's label.
func refusing(t testing.TB) *Runtime {
	rt := start(t, Config{Slots: 2, QuietThrows: true})
	register(t, rt, Policy{Name: "no", On: OnEnqueue, Expr: `arriving.labels.user == "admin" ? continue() : throw("no")`})
	return rt
}

// heap returns the live bytes of the heap.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// In a storm of decisions each reader, fast or slow, gets decisions in order, and knows exactly how
// many it missed; readers that stopped reading, or have gone, change nothing.
func TestDecisionStorm(t *testing.T) {
	rt := refusing(t)
	for range 100 {
		rt.Decisions(0).Next(background) // and no more
	}
	const goroutines = 4
	each := longtest.Count(100_000, 5_000)
	var readers, storm sync.WaitGroup
	var seen [4]atomic.Int64
	for i := range seen {
		readers.Go(func() {
			r, last, got := rt.Decisions(0), uint64(0), uint64(0)
			for d := range r.All(background) {
				if got++; d.Number <= last || got+r.Lost() != d.Number {
					t.Errorf("reader %d: %d decisions read and %d lost at number %d, after %d", i, got, r.Lost(), d.Number, last)
					return
				}
				if last = d.Number; d.Kind == DecisionRefusal && (d.Policy != "no" || len(d.Values()) != 1) {
					t.Errorf("%v: %v", d, d.Values())
				}
				seen[i].Add(1)
				for range 100 * i {
					runtime.Gosched()
				}
			}
			if _, err := r.Next(background); err != io.EOF {
				t.Error(err)
			}
			if got+r.Lost() != uint64(goroutines*each+1) {
				t.Errorf("reader %d: %d read and %d lost", i, got, r.Lost())
			}
		})
	}
	begin := time.Now()
	for range goroutines {
		storm.Go(func() {
			ctx := WithLabel(background, "user", "eve")
			for range each {
				if rt.Run(ctx, "job", idle) == nil {
					t.Error("a task was not refused")
				}
			}
		})
	}
	storm.Wait()
	t.Logf("%.0f decisions a second", float64(goroutines*each)/time.Since(begin).Seconds())
	if n := rt.Policy("no").Stats().Refusals; n != int64(goroutines*each) {
		t.Errorf("%d refusals are counted", n)
	}
	must(t, rt.Shutdown(background))
	within(t, "the readers", readers.Wait)
}

// A million distinct names and labels leave a bounded stream: it keeps neither them nor what they
// are part of.
func TestDecisionsKeepLittle(t *testing.T) {
	rt := refusing(t)
	ask := func(name string) {
		if rt.Run(WithLabel(background, "user", name), name, idle) == nil {
			t.Fatal("a task was not refused")
		}
	}
	for i := range longtest.Count(maxClasses, 0) + 2*keptDecisions { // in the long form the table of names is full afterwards
		ask(fmt.Sprint("name ", i))
	}
	before := heap()
	n := longtest.Count(1_000_000, 1_000)
	for i := range n {
		large := strings.Repeat("x", 4<<10) + fmt.Sprint(i)
		ask(large[len(large)-8:]) // keeps all of it alive, if it is not copied
	}
	if after := heap(); after > before+1<<20 {
		t.Errorf("%d decisions keep %d KiB", n, (after-before)>>10)
	}
}

// Texts of clients are data: cut, kept valid, and quoted where they are shown.
func TestHostileNames(t *testing.T) {
	rt := refusing(t)
	for _, name := range []string{"line\nbreak", "\x1b[31mred\x1b[0m", strings.Repeat("é", 1<<19), "\xff\xfe", "\u202ereversed", `"quoted"`, "<script>"} {
		must(t, rt.RegisterTenants(Tenants{Label: "user"}))
		err := rt.Run(WithLabel(background, "user", name), name, idle)
		var p *PreemptedError
		if !errors.As(err, &p) {
			t.Fatal(err)
		}
		r := rt.Decisions(rt.decisions.log.Last() - 1)
		d, err := r.Next(background)
		must(t, err)
		value := d.Values()[0].Value.(string)
		for _, text := range []string{d.Task, d.Tenant, value} {
			if len(text) > maxDecisionText || utf8.ValidString(name) && !utf8.ValidString(text) {
				t.Errorf("%d bytes, of %.20q: %.20q", len(text), name, text)
			}
			if len(name) < maxValueText && text != name {
				t.Errorf("%q became %q", name, text)
			}
		}
		story := fmt.Sprintf("%+v", p)
		for _, text := range []string{story, d.String(), fmt.Sprint(d.Values())} {
			if strings.ContainsAny(strings.ReplaceAll(text, "\n  ", ""), "\x1b\u202e") || strings.Contains(text, "\xff") || strings.Contains(text, "line\nbreak") {
				t.Errorf("%q is shown as it is: %.400s", name, text)
			}
		}
		if _, err := json.Marshal(d); err != nil {
			t.Error(err)
		}
	}
}

// Readers end with io.EOF when the runtime has ended, with their own cause when their context has,
// and two runtimes have a stream each.
func TestDecisionsEnd(t *testing.T) {
	one, two := start(t, Config{Slots: 1}), refusing(t)
	waits, end := context.WithCancelCause(background)
	gone := errors.New("the page is gone")
	errs := make(chan error, 20)
	for range 10 {
		go func() {
			_, err := one.Decisions(Latest).Next(background)
			errs <- err
		}()
		go func() {
			_, err := two.Decisions(Latest).Next(waits)
			errs <- err
		}()
	}
	time.AfterFunc(10*time.Millisecond, func() { end(gone) })
	for range 10 {
		if err := receive(t, "the end of the context", errs); err != gone {
			t.Error(err)
		}
	}
	must(t, one.Shutdown(background))
	for range 10 {
		if err := receive(t, "the end of the runtime", errs); err != io.EOF {
			t.Error(err)
		}
	}
	if d, err := one.Decisions(0).Next(background); err != io.EOF {
		t.Errorf("the stream of the other runtime has %v, %v", d, err)
	}
	if two.Run(background, "job", idle) == nil {
		t.Error("a task was not refused")
	}
	if d := next(t, two.Decisions(1), DecisionRefusal); d.Number != 2 {
		t.Errorf("%+v", d)
	}
}

// A reader may wait in a bubble of testing/synctest, with a runtime made there or outside.
func TestDecisionsInABubble(t *testing.T) {
	outside := refusing(t)
	synctest.Test(t, func(t *testing.T) {
		inside, err := New(Config{Logger: slog.New(slog.DiscardHandler), QuietThrows: true})
		must(t, err)
		register(t, inside, Policy{Name: "no", On: OnEnqueue, Expr: `throw("no")`})
		for _, rt := range []*Runtime{outside, inside} {
			got := make(chan Decision)
			go func() {
				d, _ := rt.Decisions(Latest).Next(background)
				got <- d
			}()
			for !rt.decisions.awaited.Load() {
				runtime.Gosched()
			}
			if rt.Run(background, "job", idle) == nil {
				t.Error("a task was not refused")
			}
			if d := <-got; d.Kind != DecisionRefusal {
				t.Errorf("%+v", d)
			}
		}
		must(t, inside.Shutdown(background))
	})
}

// Decisions are added and read, and readers begin, wait and go, while policies come and go and the
// runtime ends.
func TestDecisionsHammer(t *testing.T) {
	rt := start(t, Config{Slots: 2, QuietThrows: true})
	var tasks, readers sync.WaitGroup
	end := time.Now().Add(time.Duration(longtest.Count(500, 50)) * time.Millisecond)
	for i := range 8 {
		random := rand.New(rand.NewPCG(uint64(i), 1))
		readers.Go(func() {
			for {
				ctx, cancel := context.WithTimeout(background, time.Duration(random.IntN(5_000_000)))
				r, last := rt.Decisions(uint64(random.IntN(100))), uint64(0)
				var err error
				for err == nil {
					var d Decision
					if d, err = r.Next(ctx); err == nil && d.Number <= last {
						t.Errorf("%v comes after %d", d, last)
					} else if err == nil {
						last = d.Number
						d.Branch()
						d.Values()
					}
				}
				if cancel(); err == io.EOF {
					return
				}
			}
		})
		tasks.Go(func() {
			for time.Now().Before(end) {
				rt.Run(background, "job", func(ctx context.Context) error { SafePoint(ctx); return nil })
			}
		})
	}
	tasks.Go(func() {
		for n := 0; time.Now().Before(end); n++ {
			r := register(t, rt, Policy{Name: "some", On: OnEnqueue, Expr: `chance(0.5) ? throw("bad luck") : continue()`})
			must(t, rt.LoadPolicies(strings.NewReader("version: 1\n")))
			must(t, r.SetMode([]Mode{Enforce, Observe, Off}[n%3]))
			must(t, r.Update(Policy{On: OnStart, Expr: `task.running >= duration("0s") ? throw("at once") : continue()`}))
			runtime.Gosched()
			r.Cancel()
		}
	})
	within(t, "the tasks", tasks.Wait)
	must(t, rt.Shutdown(background))
	within(t, "the readers", readers.Wait)
}
