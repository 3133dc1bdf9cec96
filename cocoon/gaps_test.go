package cocoon

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/safepoint"
)

// deaf runs without a safe point.
//
//go:noinline
func deaf(d time.Duration) {
	n := 0
	for end := time.Now().Add(d); time.Now().Before(end); {
		for range 10_000 {
			n ^= n<<1 + 1
		}
		runtime.KeepAlive(n)
	}
}

const longGap = 30 * time.Millisecond

// untilGap runs until the function is among the gaps, with most of its time. On a machine busy with
// other processes, the request or the stack may come too late.
func untilGap(t *testing.T, gaps func() []Gap, function string, run func()) (g Gap) {
	t.Helper()
	eventually(t, "a gap in "+function, func() bool {
		run()
		all := gaps()
		i := slices.IndexFunc(all, func(g Gap) bool { return strings.HasSuffix(g.Function, "."+function) })
		if i >= 0 {
			g = all[i]
		}
		return g.Longest >= longGap/2
	})
	return g
}

// A function without safe points is reported, with the length of its gap and the safe point that
// ended it.
func TestGapsNameTheDeafFunction(t *testing.T) {
	rt := start(t, Config{Slots: 2, Gaps: time.Millisecond})
	g := untilGap(t, rt.Gaps, "deaf", func() {
		must(t, rt.Run(background, "job", func(ctx context.Context) error {
			for range 3 {
				deaf(longGap)
				SafePoint(ctx)
			}
			return nil
		}))
	})
	if g.Count < 1 || g.Task != "job" || !strings.HasSuffix(g.File, "gaps_test.go") || g.Line == 0 {
		t.Errorf("the gap of deaf is %+v", g)
	}
	if !strings.Contains(g.Stack, "cocoon.deaf ") || !strings.Contains(g.Stack, "TestGapsNameTheDeafFunction") || strings.Contains(g.Stack, "strand") {
		t.Errorf("its stack is\n%s", g.Stack)
	}
	if !strings.Contains(g.End, "TestGapsNameTheDeafFunction") || !strings.Contains(g.End, "gaps_test.go:") {
		t.Errorf("it ended at %q", g.End)
	}
	all := rt.Gaps()
	if !slices.IsSortedFunc(all, func(a, b Gap) int { return int(b.Longest - a.Longest) }) {
		t.Errorf("out of order: %+v", all)
	}
}

// A gap that ends because the task is found waiting has no safe point at its end: the caller is
// another goroutine.
func TestGapThatEndsInAWait(t *testing.T) {
	rt := start(t, Config{Slots: 1, Gaps: time.Hour, StallAfter: -1})
	l := rt.Loop()
	gate := make(chan struct{})
	s := begun(t, l, background, "waits", func(context.Context) error { <-gate; return nil }).Task().strand
	l.lock()
	*s.gap = gapProbe{asked: 1}
	s.endGap(int64(2 * time.Hour))
	l.unlock()
	close(gate)
	if all := rt.Gaps(); len(all) != 1 || all[0].Task != "waits" || all[0].End != "" {
		t.Errorf("the gaps are %+v", all)
	}
}

// The end of a task ends its gap.
func TestGapAtTheEnd(t *testing.T) {
	rt := start(t, Config{Slots: 1, Gaps: time.Millisecond})
	g := untilGap(t, rt.Gaps, "deaf", func() {
		must(t, rt.Run(background, "deaf", func(context.Context) error { deaf(longGap); return nil }))
	})
	if g.End != "" {
		t.Errorf("%+v", g)
	}
}

// Time without a slot belongs to no gap: inside Block, or while a nested task runs.
func TestGapsLeaveOutWhatDoesNotRun(t *testing.T) {
	const away = 200 * time.Millisecond // far longer than the machine may be busy with other processes
	rt := start(t, Config{Slots: 1, Gaps: time.Millisecond, StallAfter: -1})
	running, release := make(chan struct{}), make(chan struct{})
	h := rt.Go(background, "blocks", func(ctx context.Context) error {
		return Block(ctx, func() error {
			close(running)
			<-release
			return nil
		})
	})
	receive(t, "the task in Block", running)
	must(t, rt.Run(background, "outer", func(ctx context.Context) error {
		return rt.Run(ctx, "inner", func(ctx context.Context) error {
			for end := time.Now().Add(away); time.Now().Before(end); {
				SafePoint(ctx)
			}
			return nil
		})
	}))
	close(release)
	must(t, h.Wait(background))
	for _, g := range rt.Gaps() {
		if g.Longest >= away*3/4 {
			t.Errorf("%+v", g)
		}
	}
}

// A poll under a lock is not a safe point, so it ends no gap.
func TestGapUnderALock(t *testing.T) {
	noteLocked()
	rt := start(t, Config{Slots: 1, Gaps: time.Millisecond})
	untilGap(t, rt.Gaps, "locked", func() {
		must(t, rt.Run(background, "job", func(context.Context) error {
			locked(func() {
				for end := time.Now().Add(longGap); time.Now().Before(end); {
					deaf(100 * time.Microsecond) // a stack taken at the poll says nothing
					safepoint.Poll()
				}
			})
			safepoint.Poll()
			return nil
		}))
	})
}

// Throws and switches arrive as usual while gaps are measured.
func TestGapsDoNotHideRequests(t *testing.T) {
	rt := start(t, Config{Slots: 1, Gaps: time.Millisecond})
	signal := throwOnSignal(t, rt, "victim")
	running := make(chan struct{})
	h := rt.Go(background, "victim", func(ctx context.Context) error {
		close(running)
		deaf(longGap)
		return spinForever(ctx)
	})
	receive(t, "the victim", running)
	signal()
	within(t, "the throw", func() { preemption(t, h.Wait(background)) })
}

func TestGapsAreOff(t *testing.T) {
	t.Setenv(gapsVariable, t.TempDir())
	rt := start(t, Config{Slots: 1, Gaps: -1})
	must(t, rt.Run(background, "deaf", func(context.Context) error { deaf(3 * time.Millisecond); return nil }))
	if all := rt.Gaps(); all != nil {
		t.Errorf("measured all the same: %+v", all)
	}
}

// With COCOON_GAPS gaps are kept in a file, also by a runtime that is never shut down.
func TestGapsFile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(gapsVariable, dir)
	rt := start(t, Config{Slots: 1})
	inFile := func() (read []Gap) {
		files, err := filepath.Glob(filepath.Join(dir, "gaps-*.json"))
		if err != nil || len(files) != 1 {
			return nil // not yet
		}
		text, err := os.ReadFile(files[0])
		must(t, err)
		must(t, json.Unmarshal(text, &read))
		return read
	}
	g := untilGap(t, inFile, "deaf", func() {
		must(t, rt.Run(background, "job", func(context.Context) error { deaf(longGap); return nil }))
	})
	if g.Task != "job" {
		t.Errorf("the file has %+v", g)
	}
}

func TestGapsFileCannotBeWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	t.Setenv(gapsVariable, dir)
	var log journal
	rt, err := New(Config{Slots: 1, Logger: log.logger()})
	must(t, err)
	must(t, rt.Shutdown(background))
	if log.count("gaps cannot be written") != 1 || log.count(dir) == 0 {
		t.Errorf("the log says\n%s", log.String())
	}
}

// TestPlaceOf: which function of a gap's stacks took the time.
func TestPlaceOf(t *testing.T) {
	frames := func(names ...string) (stack []runtime.Frame) {
		for i, name := range names {
			stack = append(stack, runtime.Frame{Function: name, File: "/x.go", Line: i + 1})
		}
		return stack
	}
	a := frames("runtime.memmove", "bytes.(*Buffer).grow", "main.f[...]")
	b := a[1:]
	if want, got := "runtime.memmove /x.go:1\nbytes.(*Buffer).grow /x.go:2\nmain.f[...] /x.go:3", textOf(a); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if f := placeOf(a); f.Function != "bytes.(*Buffer).grow" {
		t.Errorf("the place is %s", lineOf(f))
	}
	if n := shared(a, b); n != 2 {
		t.Errorf("%d functions are shared, want 2", n)
	}
	p := gapProbe{stack: a, same: 3}
	for want, end := range map[string][]runtime.Frame{"bytes.(*Buffer).grow": b[1:], "main.f[...]": frames("main.g")} {
		if got := p.place(end); got.Function != want {
			t.Errorf("the place is %s, want %s", got.Function, want)
		}
	}
	whole := []marked{{}}
	p = gapProbe{}
	p.saw(taskStack{frames: a, tasks: whole})
	p.saw(taskStack{frames: append(frames("bytes.other"), b[1:]...), tasks: whole})
	p.saw(taskStack{})
	p.saw(taskStack{frames: frames("github.com/cocoon-go/cocoon/safepoint.Answer", "main.f[...]"), tasks: whole})
	if p.same != 1 || textOf(p.stack) != "bytes.other /x.go:1\nmain.f[...] /x.go:3" {
		t.Errorf("%d functions are the same of\n%s", p.same, textOf(p.stack))
	}
	p = gapProbe{}
	p.saw(taskStack{frames: a})
	if f := p.place(frames("main.f[...]")); f.Function != "bytes.(*Buffer).grow" {
		t.Errorf("the place in a stack without its outermost functions is %s", lineOf(f))
	}
}
