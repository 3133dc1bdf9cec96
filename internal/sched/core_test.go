package sched

import (
	"strings"
	"testing"
)

// TestTimeBackwards checks a clock reading older than the last call's, as when it is taken before
// the shell's lock: no time passes, and no time is counted twice.
func TestTimeBackwards(t *testing.T) {
	c := NewCore(Config{Slots: 1})
	var a, b Task
	a.Reset(Preemptible)
	b.Reset(Safe)
	c.Arrive(&a, 100)
	c.Arrive(&b, 90)
	c.Suspend(&a, 80)
	if l := c.Load(70); l.Oldest != 0 || l.BusyTime != 0 {
		t.Errorf("load is %+v", l)
	}
	c.Exit(&b, 150)
	c.Block(&a, 140)
	if got, want := a.Account(120), (Account{Suspended: 50, Preemptions: 1}); got != want {
		t.Errorf("account is %+v, want %+v", got, want)
	}
	if got, want := b.Account(0), (Account{Running: 60}); got != want {
		t.Errorf("account is %+v, want %+v", got, want)
	}
	if l := c.Load(200); l.BusyTime != 50 {
		t.Errorf("busy for %d, want 50", l.BusyTime)
	}
}

// TestMisuse checks that calls that no shell may make panic with a message, and do not corrupt the
// core.
func TestMisuse(t *testing.T) {
	for name, misuse := range map[string]func(c *Core, running, waiting *Task){
		"exit of a task that is queued":     func(c *Core, _, w *Task) { c.Exit(w, 1) },
		"block of a task that is queued":    func(c *Core, _, w *Task) { c.Block(w, 1) },
		"unblock of a task that is queued":  func(c *Core, _, w *Task) { c.Unblock(w, 1) },
		"unblock of a task that is running": func(c *Core, r, _ *Task) { c.Unblock(r, 1) },
		"gives up its slot and is queued":   func(c *Core, _, w *Task) { c.Yield(w, 1) },
		"gives up its slot and is new":      func(c *Core, _, _ *Task) { c.Lend(new(Task), 1) },
		"release without hold":              func(c *Core, _, _ *Task) { c.Release(1) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(Config{Slots: 1})
			w.do(op{verb: "arrive", task: "r"})
			w.do(op{verb: "arrive", task: "w"})
			defer func() {
				if p, _ := recover().(string); !strings.Contains(p, name) {
					t.Errorf("panic %q, want one about %q", p, name)
				}
				if err := w.checkState(); err != nil {
					t.Error(err)
				}
			}()
			misuse(w.c, &w.find("r").Task, &w.find("w").Task)
		})
	}
}

// BenchmarkArriveExit measures a task that takes a free slot and gives it back.
func BenchmarkArriveExit(b *testing.B) {
	c := NewCore(Config{Slots: 4})
	var t Task
	b.ReportAllocs()
	for now := range int64(b.N) {
		t.Reset(Atomic)
		c.Arrive(&t, now)
		c.Exit(&t, now)
		c.Granted()
	}
}

// BenchmarkSuspendResume measures a safe task that arrives, while a preemptible one is switched out
// for it, and resumed at its end.
func BenchmarkSuspendResume(b *testing.B) {
	c := NewCore(Config{Slots: 1, MaxBypass: 1000})
	var scan, get Task
	scan.Reset(Preemptible)
	c.Arrive(&scan, 0)
	b.ReportAllocs()
	for now := range int64(b.N) {
		get.Reset(Safe)
		c.Arrive(&get, now)
		if !c.Suspend(&scan, now) {
			b.Fatal("not switched out")
		}
		c.Granted()
		c.Exit(&get, now)
		c.Granted()
	}
}
