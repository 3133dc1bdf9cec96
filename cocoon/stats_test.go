package cocoon

import (
	"context"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/safepoint"
)

// Reading the statistics costs the tasks nothing: a task in an open slot stays there, unknown to
// the core. No request is posted to it, the word stays lowered, and the slot is open for the next
// task.
func TestStatsDisturbNoTask(t *testing.T) {
	rt := start(t, Config{Slots: 2, StallAfter: -1})
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		task := TaskOf(ctx)
		within(t, "a thousand snapshots", func() {
			for range 1000 {
				if st := rt.Stats(); st.Tasks != 1 || st.Loops[0].Busy != 1 {
					t.Errorf("%d tasks, %d slots busy", st.Tasks, st.Loops[0].Busy)
				}
				if safepoint.Raised() {
					t.Error("the word is up")
				}
			}
		})
		if rt.tasks.Load() != 0 {
			t.Error("the task is known: it will end under the loop's lock")
		}
		if n := task.strand.requests.Load(); n != 0 {
			t.Errorf("requests %b", n)
		}
		return rt.Run(background, "other", func(context.Context) error {
			if rt.tasks.Load() != 0 {
				t.Error("the other slot is not open any more")
			}
			return nil
		})
	}))
	if n, _ := rt.Loop().quickEnded(); n != 2 {
		t.Errorf("%d tasks ended without the lock; want 2", n)
	}
}

// One of two slots is taken for a third of a second, and then none.
func TestUtilization(t *testing.T) {
	t.Parallel() // most of its time is a wait
	before := time.Now()
	rt := start(t, Config{Slots: 2, StallAfter: -1})
	if age := time.Since(before); rt.Loop().usage.asOf < rt.made || rt.Loop().usage.asOf > rt.made+int64(age) {
		t.Error("the first reading is not about the time since the loop was made")
	}
	span := func() float64 {
		rt.Stats()
		time.Sleep(300 * time.Millisecond) // three windows: 95 %
		return rt.Loop().Stats().Utilization
	}
	must(t, rt.Run(background, "job", func(context.Context) error {
		if u := span(); u < 0.45 || u > 0.51 {
			t.Errorf("with one of two slots taken it is %v", u)
		}
		return nil
	}))
	if u := span(); u < 0 || u > 0.05 {
		t.Errorf("with no slot taken it is %v", u)
	}
}

// The time from a request to the safe point that handles it is a value of the histogram, and each
// handled request is counted in the account.
func TestTimeToTheSafePoint(t *testing.T) {
	const deaf = 5 * time.Millisecond
	rt := start(t, Config{Slots: 1, StallAfter: -1, Breath: -1})
	signal := throwOnSignal(t, rt, "job")
	h := rt.Go(background, "job", func(ctx context.Context) error {
		return inSection(ctx, "s", func() error {
			signal()
			for begin := time.Now(); time.Since(begin) < deaf; {
			}
			return spinForever(ctx)
		})
	})
	pe := preemption(t, h.Wait(background))
	st := rt.Loop().Stats()
	values := st.ToSafePoint.Count()
	if longest := st.ToSafePoint.Quantile(1); values != 1 || longest < deaf {
		t.Errorf("%d values, the longest %v; want one of %v at least", values, longest, deaf)
	}
	if n := h.Account().SafePoints; n != 1 || pe.Section != "s" {
		t.Errorf("it answered at %d safe points; want 1", n)
	}
}
