package cocoon

import (
	"context"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/safepoint"
)

// fill is a function that documents keep.
func fill(spin func()) { spin() }

const keepFill = "never-unwind: [github.com/cocoon-go/cocoon/cocoon.fill]\n"

// keptFrom reports whether a throw into a task waits until fill returns.
func keptFrom(t *testing.T, rt *Runtime) bool {
	t.Helper()
	ended := false
	preemption(t, rt.Run(background, "job", func(ctx context.Context) error {
		TaskOf(ctx).Cancel()
		fill(pollFor(10*time.Millisecond, &ended))
		return spinForever(ctx)
	}))
	return ended
}

// A throw waits until a function that a document keeps returns, for as long as a document keeps it.
func TestNeverUnwind(t *testing.T) {
	rt, other := start(t, Config{Slots: 1}), start(t, Config{Slots: 1})
	file, second := newPolicyFile(t), newPolicyFile(t)
	for i, step := range []struct {
		file     policyFile
		document string
		kept     bool
	}{
		{file, "", false},
		{file, keepFill, true},
		{second, keepFill, true},
		{file, "", true},
		{second, "never-unwind: [github.com/cocoon-go/cocoon/cocoon.other]\n", false},
		{second, "never-unwind: [github.com/cocoon-go/cocoon/cocoon/none/...]\n", false},
		{second, "", false},
	} {
		must(t, step.file.load(t, rt, step.document))
		if kept := keptFrom(t, rt); kept != step.kept {
			t.Errorf("step %d: kept %v", i, kept)
		}
		if keptFrom(t, other) {
			t.Errorf("step %d: another runtime keeps it too", i)
		}
	}
}

// A task is suspended in a function that is kept, unless the entry forbids it.
func TestNeverUnwindAndSuspension(t *testing.T) {
	for suspend, document := range map[bool]string{
		true:  keepFill,
		false: "never-unwind: [{name: github.com/cocoon-go/cocoon/cocoon.fill, suspend: false}]\n",
	} {
		rt := start(t, Config{Slots: 1, StallAfter: -1})
		// a short wait for one of the runtime's locks must not lend the slot
		rt.Loop().cfg.Exclusive = true
		must(t, rt.RegisterPreemptibleFunc("scan"))
		must(t, rt.RegisterSafeFunc("get"))
		_, err := rt.RegisterDefaultPreemption(OnEnqueue)
		must(t, err)
		must(t, newPolicyFile(t).load(t, rt, document))
		must(t, rt.Run(background, "scan", func(ctx context.Context) error {
			get := (*Handle)(nil)
			fill(func() {
				get = rt.Go(background, "get", idle)
				eventually(t, "the request to switch", func() bool { return strandOf(ctx).requests.Load()&wantSwitch != 0 })
				// The word is raised after the request is posted.
				for n, end := 0, time.Now().Add(patience); n < 1000 || suspend && !closed(get.Done()) && time.Now().Before(end); n++ {
					safepoint.Poll()
				}
				if closed(get.Done()) != suspend {
					t.Errorf("suspended: %v; want %v", closed(get.Done()), suspend)
				}
			})
			for end := time.Now().Add(patience); !closed(get.Done()) && time.Now().Before(end); {
				safepoint.Poll()
			}
			if !closed(get.Done()) {
				t.Error("the task was not suspended behind the function")
			}
			return nil
		}))
	}
}

// A pattern that matches Cocoon's own functions keeps only the program's.
func TestNeverUnwindOwnFunctions(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, newPolicyFile(t).load(t, rt, "never-unwind: ['github.com/cocoon-go/cocoon/cocoon.(*strand).*', github.com/cocoon-go/cocoon/safepoint]\n"))
	if keptFrom(t, rt) {
		t.Error("it keeps all tasks")
	}
}

// A kept function around the section that a throw is for does not mask it.
func TestNeverUnwindAroundASection(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	limit(t, rt, "lib.match")
	must(t, newPolicyFile(t).load(t, rt, keepFill))
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		fill(func() { preemption(t, inSection(ctx, "lib.match", func() error { spinPolling(); return nil })) })
		return nil
	}))
}
