package cocoon

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// busy runs without a safe point until it is told to end. Each of its depths is a function on the
// stack.
//
//go:noinline
func busy(depth int, over *atomic.Bool) int {
	if depth > 0 {
		return busy(depth-1, over) + 1
	}
	n := 0
	for end := time.Now().Add(patience); !over.Load() && time.Now().Before(end); {
		n ^= n<<1 + 1
	}
	return n
}

//go:noinline
func busyHere(over *atomic.Bool) int { return busy(1, over) + 1 }

//go:noinline
func busyThere(over *atomic.Bool) int { return busy(1, over) + 1 }

// Concurrent tasks are each found by their marks, also nested ones, and also in a runtime that
// measures gaps.
func TestStacksOfTasks(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, gaps := range []time.Duration{-1, time.Hour} {
		rt := start(t, Config{Slots: 8, StallAfter: -1, Gaps: gaps})
		var over atomic.Bool
		gate := make(chan struct{})
		task := func(fn func()) *strand {
			return begun(t, rt.Loop(), background, "t", func(context.Context) error { fn(); return nil }).Task().strand
		}
		want := map[*strand]string{
			task(func() { busyHere(&over) }):  "busyHere",
			task(func() { busyThere(&over) }): "busyThere",
			task(func() { <-gate }):           "TestStacksOfTasks",
		}
		inner := make(chan *strand, 1)
		outer := begun(t, rt.Loop(), background, "outer", func(ctx context.Context) error {
			return rt.Run(ctx, "inner", func(ctx context.Context) error {
				inner <- TaskOf(ctx).strand
				busyHere(&over)
				return nil
			})
		})
		want[<-inner], want[outer.Task().strand] = "busyHere", "busyHere"
		begun(t, rt.Loop(), background, "in Block", func(ctx context.Context) error {
			return Block(ctx, func() error { <-gate; return nil })
		})
		eventually(t, "the stacks", func() bool {
			all, _ := rt.takeStacks()
			missing := 0
			for s, function := range want {
				found := stacksOf(all, s)
				for _, f := range found {
					if gaps > 0 && len(found) > 1 {
						t.Fatalf("%d stacks may be that of task %d, though all digits are known", len(found), s.number)
					}
					if strings.Contains(traceOf(f.frames), ".Block(") || strings.Contains(traceOf(f.frames), ".(*strand)") || strings.Contains(traceOf(f.frames), "taskMark") {
						t.Fatalf("a stack is\n%s", traceOf(f.frames))
					}
				}
				if len(found) == 0 || !strings.Contains(traceOf(found[0].frames), function) && len(found) == 1 {
					missing++ // it has not got there yet
				}
			}
			return missing == 0
		})
		over.Store(true)
		close(gate)
	}
}

// A stack that is too deep for a profile counts among the stacks that may be the task's.
func TestStackThatIsTooDeep(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	var over atomic.Bool
	h := begun(t, rt.Loop(), background, "deep", func(context.Context) error { busy(300, &over); return nil })
	eventually(t, "its stack", func() bool {
		all, _ := rt.takeStacks()
		found := stacksOf(all, h.Task().strand)
		return len(found) == 1 && len(found[0].tasks) == 0 && strings.Count(traceOf(found[0].frames), "cocoon.busy(") > 50
	})
	over.Store(true)
	must(t, h.Wait(background))
}

// Each mark has its own address, and its calls lead back to it.
func TestMarks(t *testing.T) {
	if n := len(markOf()); n != len(taskMarks) {
		t.Fatalf("%d marks have addresses of their own; want %d", n, len(taskMarks))
	}
	var r stackReader
	for digits, numbers := range map[int][]uint32{1: {0, 1, 15}, markDigits: {0, 1, 15, 16, 0xfedc, 65535}} {
		for _, n := range numbers {
			var pcs [64]uintptr
			must(t, taskMarkAll(n, digits, background, func(context.Context) error {
				r.pcs = pcs[:runtime.Callers(1, pcs[:])]
				return nil
			}))
			m := marked{}
			for _, pc := range r.pcs {
				if d := r.mark(pc); d != noMark {
					m = marked{m.number<<4 | uint32(d), m.digits + 1}
				}
			}
			if want := (marked{n, digits}); m != want {
				t.Errorf("the marks say %+v; want %+v", m, want)
			}
			for _, c := range []struct {
				number uint32
				is     bool
			}{{n, true}, {n + 1, false}, {n + 1<<16, true}} {
				if got := m.is(&strand{number: c.number}); got != c.is {
					t.Errorf("%+v may be strand %d: %t", m, c.number, got)
				}
			}
		}
	}
	if (marked{}).is(new(strand)) {
		t.Error("a stack without marks is a strand's")
	}
}

// The reader extracts the stacks of tasks, in whatever pieces the text comes.
func TestStackReader(t *testing.T) {
	here, _, _, _ := runtime.Caller(0)
	text := fmt.Sprintf("goroutine profile: total 3\n2 @ %#x %#x\n# labels: {\"a @ b\":\"1 @ 0x1\"}\n#\t0x1\tf+0x1\tf.go:1\n\nx @ 0x1\n1 @ y\n1 @ %#x", here, here, here)
	for size := 1; size < len(text); size += 7 {
		var r stackReader
		for rest := text + "\n"; rest != ""; {
			n := min(size, len(rest))
			if got, err := r.Write([]byte(rest[:n])); got != n || err != nil {
				t.Fatal(got, err)
			}
			rest = rest[n:]
		}
		if len(r.found) != 2 || len(r.found[0].frames) != 2 || len(r.found[1].frames) != 1 {
			t.Errorf("in pieces of %d: %+v", size, r.found)
		}
	}
}

// Of the stacks that may be a task's, running goroutines come first, then goroutines with the
// task's marks. A goroutine in Block never counts.
func TestStacksThatFit(t *testing.T) {
	s := &strand{number: 0x23}
	its, others := []marked{{3, 1}}, []marked{{4, 1}}
	all := []taskStack{
		{tasks: others}, {tasks: its, waits: true, inside: true},
		{waits: true}, {tasks: its, waits: true}, {}, {tasks: append(others, its...)},
	}
	for n, want := range []int{2: 0, 3: 1, 4: 2, 5: 3, 6: 4} {
		if n < 2 {
			continue
		}
		found := stacksOf(all[:n], s)
		got := 0
		if len(found) == 1 {
			got = found[0].fits(s)
		}
		if got != want || len(found) != min(want, 1) {
			t.Errorf("of the first %d: %+v", n, found)
		}
	}
}

// A task inside Block waits for nothing that concerns its slot.
func TestStackInsideBlock(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1, Gaps: time.Hour})
	gate := make(chan struct{})
	h := begun(t, rt.Loop(), background, "blocks", func(ctx context.Context) error {
		return Block(ctx, func() error { <-gate; return nil })
	})
	seen := func(all []taskStack) (t taskStack) {
		for _, t := range all {
			for _, m := range t.tasks {
				if m.is(h.Task().strand) {
					return t
				}
			}
		}
		return t
	}
	eventually(t, "the stack", func() bool {
		all, _ := rt.takeStacks()
		return seen(all).waits && seen(all).inside && len(stacksOf(all, h.Task().strand)) == 0
	})
	close(gate)
	must(t, h.Wait(background))
}
