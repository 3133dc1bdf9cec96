package cocoon

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/notify"
)

// losesSlots runs a task that has lost its slot in many Blocks and has run for pause between them,
// and then calls within in the task. aside says that the task should become brisk, which takes it
// longer where other programs take the processors.
func losesSlots(t *testing.T, rt *Runtime, pause time.Duration, aside bool, within func(ctx context.Context, s *strand)) {
	t.Helper()
	l := rt.Loop()
	must(t, rt.Run(background, "stream", func(ctx context.Context) error {
		for i := 0; i < 2*fewLooks || aside && !strandOf(ctx).brisk() && i < 1000; i++ {
			work(pause)
			must(t, Block(ctx, func() error {
				taken(t, l)()
				rt.warmth.told.Store(notify.Now()) // the process is still saturated
				return nil
			}))
		}
		within(ctx, strandOf(ctx))
		return nil
	}))
}

// In a saturated process, a task that runs for moments between its Blocks does not wait for a slot
// after them: it goes on while another task computes in the only one.
func TestBriskTaskStandsAside(t *testing.T) {
	withProcs(t, 1) // so that the other task has none
	rt := start(t, Config{Slots: 1, StallAfter: -1, KeepProcs: true})
	saturate(rt)
	load(t, rt, `tasks: {stream: safe}`)
	losesSlots(t, rt, 0, true, func(ctx context.Context, s *strand) {
		var release func()
		for range 3 {
			must(t, Block(ctx, func() error {
				if release == nil {
					release = taken(t, rt.Loop())
				}
				return nil
			}))
			SafePoint(ctx)
		}
		if n := rt.Loop().Stats().Busy; n != 1 {
			t.Errorf("%d slots are taken; want that of the task that computes", n)
		}
		release()
	})
	must(t, rt.Run(background, "stream", func(ctx context.Context) error {
		if strandOf(ctx).aside() {
			t.Error("a new task of the class has no slot: it would start out of turn")
		}
		return nil
	}))
}

// While the holder of the slot runs, a brisk task waits for its turn.
func TestBriskTaskWaitsForARunningHolder(t *testing.T) {
	withProcs(t, 4)
	rt := start(t, Config{Slots: 1, StallAfter: -1, KeepProcs: true})
	saturate(rt)
	l := rt.Loop()
	losesSlots(t, rt, 0, true, func(context.Context, *strand) {})
	for range 1000 { // on a busy machine the holder may have no P
		var back atomic.Bool
		waited := make(chan bool, 1)
		must(t, rt.Run(background, "stream", func(ctx context.Context) error {
			defer back.Store(true)
			return Block(ctx, func() error {
				release := taken(t, l)
				go func() {
					queued := false
					for !queued && !back.Load() {
						queued = l.Stats().Queued == 1
					}
					release()
					waited <- queued
				}()
				return nil
			})
		}))
		if <-waited {
			return
		}
	}
	t.Error("the task never waited for the slot")
}

// A brisk task keeps to the queue wherever standing aside would make a difference to a policy or to
// another task.
func TestBriskTaskKeepsToTheQueue(t *testing.T) {
	for name, c := range map[string]struct {
		slots    int
		document string
		pause    time.Duration
		calm     bool
		suspends bool // a task is suspended in the end
		aside    bool
	}{
		"safe":             {slots: 1, document: `tasks: {stream: safe}`, aside: true},
		"atomic":           {slots: 1, aside: true},
		"suspended":        {slots: 1, suspends: true},
		"safe, suspended":  {slots: 1, document: `tasks: {stream: safe}`, suspends: true, aside: true},
		"atomic, two":      {slots: 2, aside: true},
		"long runs":        {slots: 2, pause: 2 * briskRun * time.Microsecond},
		"calm":             {slots: 2, calm: true},
		"a limit":          {slots: 2, document: `limits: [{func: stream, limit: 10s}]`},
		"a limit, another": {slots: 2, document: `limits: [{func: scan, limit: 10s}]`, aside: true},
		"on unblock":       {slots: 2, document: `policies: [{name: p, on: unblock, expr: 'task.name == "x" ? throw("no") : continue()'}]`},
		"on block":         {slots: 2, document: `policies: [{name: p, on: block, expr: 'task.name == "x" ? throw("no") : continue()'}]`},
		"background":       {slots: 2, document: `policies: [{name: p, on: enqueue, expr: 'task.name == "stream" ? background() : continue()'}]`},
		"its rank":         {slots: 2, document: `policies: [{name: p, on: enqueue, expr: 'task.name == "stream" ? rank(1) : continue()'}]`},
		"ranks":            {slots: 2, document: `policies: [{name: p, on: enqueue, expr: 'rank(-arriving.priority)'}]`},
		"demotes":          {slots: 2, document: `policies: [{name: p, event: x, expr: 'background()'}]`},
		"figures":          {slots: 2, document: `policies: [{name: p, on: enqueue, expr: 'class.queued > 1000 ? throw("many") : continue()'}]`},
		"slots":            {slots: 2, document: `policies: [{name: p, on: enqueue, expr: 'loop.busy > 1000 ? throw("many") : continue()'}]`},
		"accounts":         {slots: 2, document: "states: {used: 0s}\npolicies: [{name: p, on: exit, expr: 'add(\"used\", task.running)'}]"},
		"the queue":        {slots: 2, document: `policies: [{name: p, on: enqueue, expr: 'queue.oldest > duration("1h") ? throw("many") : continue()'}]`, aside: true},
	} {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: c.slots, StallAfter: -1})
			goroutine.Learn()
			if !c.calm {
				saturate(rt)
			}
			file := filepath.Join(t.TempDir(), "policies.yaml")
			document := func(text string) {
				must(t, os.WriteFile(file, []byte("version: 1\n"+text), 0o600))
				must(t, rt.LoadPolicyFile(file))
			}
			document(c.document)
			losesSlots(t, rt, c.pause, c.aside, func(ctx context.Context, s *strand) {
				if c.suspends {
					l := rt.Loop()
					if !s.brisk() {
						t.Error("the task is not brisk while no task is suspended")
					}
					l.lockAll()
					defer l.unlock()
					l.suspends.Store(true)
				}
				if s.brisk() != c.aside {
					t.Errorf("the task is brisk: %v, want %v", !c.aside, c.aside)
				}
				if !c.suspends {
					document("")
				}
				if c.document != "" && c.slots == 2 && !c.aside {
					eventually(t, "it to be brisk, as the document is gone", s.brisk)
				}
			})
		})
	}
}

// A class that computes now is no longer brisk: looks find its tasks running.
func TestBriskIsUnlearned(t *testing.T) {
	c := &class{}
	for range manyLooks {
		c.brisk.found(true)
	}
	for i := 0; c.brisk.mostlyWait(); i++ {
		if i == manyLooks {
			t.Fatal("the class stays brisk")
		}
		c.brisk.found(false)
	}
}
