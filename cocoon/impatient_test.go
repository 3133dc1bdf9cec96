package cocoon

import (
	"context"
	"testing"
	"time"
)

// An undeclared task does not wait for the end of the reports that hold all slots: in plain Go it
// would have a processor soon (invariant 8).
func TestUndeclaredTasksPassReports(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: 2 * time.Millisecond})
	must(t, newPolicyFile(t).load(t, rt, "tasks: {report: preemptible}\n"))
	running := make(chan struct{})
	report := rt.Go(background, "report", func(ctx context.Context) error {
		close(running)
		return spinForever(ctx)
	})
	receive(t, "the report", running)
	// On a busy machine the slot may be lent instead.
	eventually(t, "the report to be suspended", func() bool {
		receive(t, "a task that nothing declares", rt.Go(background, "other", nothing).Done())
		return report.Account().Preemptions > 2
	})
	report.Cancel()
	<-report.Done()
}

// A task that a document declares atomic waits until the report has ended, and so do all tasks on
// the loops that keep their tasks apart.
func TestDeclaredTasksWaitForReports(t *testing.T) {
	rt := start(t, Config{Slots: 2, StallAfter: time.Millisecond})
	must(t, newPolicyFile(t).load(t, rt, "tasks: {other: atomic}\n"))
	one := newLoopOf(t, rt, "one", 1)
	if rt.Loop().patience() == 0 || newLoopOf(t, rt, "two", 2).patience() == 0 || one.patience() != 0 {
		t.Error("which loops have patience")
	}
	for name, loose := range map[string]bool{"other": false, "undeclared": true} {
		must(t, rt.Run(background, name, func(ctx context.Context) error {
			if s := strandOf(ctx); s.core.Loose != loose {
				t.Errorf("%s: loose is %t", name, s.core.Loose)
			}
			return nil
		}))
	}
}
