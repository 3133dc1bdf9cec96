package cocoon

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// The policy in docs/policy.md that stops the least valuable running work under overload. It stops
// work past its deadline, work without a waiting caller, and the work that is cheapest to retry,
// and nothing else.
func TestLeastValuable(t *testing.T) {
	text, err := os.ReadFile("../docs/policy.md")
	must(t, err)
	expr := regexp.MustCompile("(?s)worth least.*?```policy\n(.*?)```").FindSubmatch(text)
	if expr == nil {
		t.Fatal("docs/policy.md tells of no such policy")
	}
	const inDocument = "50ms" // from then on a task is far along
	far := time.Duration(longtest.Count(50, 10)) * time.Millisecond
	if strings.Count(string(expr[1]), inDocument) != 1 {
		t.Fatalf("the policy does not have %s once", inDocument)
	}
	wording := strings.Replace(string(expr[1]), inDocument, far.String(), 1)
	rt := start(t, Config{Slots: 6, StallAfter: -1})
	l := rt.Loop()
	until := make(chan struct{})
	run := func(ctx context.Context, name string, fn func(context.Context) error) *Handle {
		return begun(t, rt.Loop(), ctx, name, fn)
	}
	on := func(ctx context.Context) error { spin(ctx, until); return nil }
	low := WithPriority(background, -1)
	gone, goAway := context.WithCancel(low)
	defer goAway()
	lasting := []*Handle{run(low, "far along", on), run(background, "urgent", on), run(due{low, time.Now().Add(time.Hour)}, "timely", on)}
	abandoned := run(gone, "abandoned", on)
	r := register(t, rt, Policy{Name: "least-valuable", On: Every(time.Millisecond), Expr: wording})
	// On a busy machine a part of the running time turns out to be without a processor. The runtime
	// subtracts it while there is a time policy, so they need more than the policy's time.
	for _, h := range append(lasting, abandoned) {
		eventually(t, "all to be far along", func() bool { return h.Account().Running > 3*far })
	}
	lasting = append(lasting, run(background, "new", on))

	thrown := func(h *Handle, reason string, n int64) {
		t.Helper()
		if pe := preemption(t, h.Wait(background)); pe.Reason != reason || r.Stats().Throws != n {
			t.Errorf("%v, and %d throws; want %s by the %dth", pe, r.Stats().Throws, reason, n)
		}
	}
	// A deadline in the past, of a context that does not end with it. The throw may come before the
	// function is called.
	thrown(l.Go(due{background, time.Now().Add(-time.Second)}, "late", spinForever), "too late", 1)
	goAway()
	thrown(abandoned, "too late", 2)

	l.Hold()
	var waiting []*Handle
	for range 13 {
		waiting = append(waiting, rt.Go(background, "waiting", idle))
	}
	eventually(t, "a queue", func() bool { return l.Stats().Queued == 13 })
	n := r.Stats().Evaluations
	eventually(t, "evaluations", func() bool { return r.Stats().Evaluations > n+20 })
	if st := r.Stats(); st.Throws != 2 {
		t.Errorf("%d throws into what is far along, urgent or new", st.Throws-2)
	}
	l.Release()
	for _, h := range waiting {
		must(t, h.Wait(background))
	}

	// Work that had just begun when the queue was long. If the timer comes too late, the work is
	// far along, and another task begins.
	stopped := func() error {
		gate := make(chan struct{})
		h := run(low, "cheap", func(ctx context.Context) error {
			Block(ctx, func() error { <-gate; return nil })
			for TaskOf(ctx).Account().Running < 2*far {
				SafePoint(ctx)
			}
			return nil
		})
		l.Hold()
		for i := range 13 {
			rt.Go(background, "waiting", idle)
			eventually(t, "a queue", func() bool { return l.Stats().Queued == i+1 })
		}
		close(gate)
		err := h.Wait(background)
		l.Release()
		eventually(t, "the queue to be empty", func() bool { return l.Stats().Queued == 0 })
		return err
	}
	for range 20 {
		if err = stopped(); err != nil {
			break
		}
	}
	throws := r.Stats().Throws - l.Stats().Void // without throws into tasks that were just ending
	if pe := preemption(t, err); pe.Task != "cheap" || pe.Reason != "overloaded: try again" || throws < 3 {
		t.Errorf("%v, %d throws", pe, throws)
	}
	close(until)
	for _, h := range lasting {
		must(t, h.Wait(background))
	}
}
