package cocoon

import (
	"context"
	"testing"
	"time"
)

// A task that gets its slot while another goroutine has the only processor has not run until it has
// the processor: neither of two tasks that each run for 20 µs between Blocks of 400 µs.
func TestSlotBeforeProcessor(t *testing.T) {
	withProcs(t, 1)
	rt := start(t, Config{Slots: 1, QuietThrows: true})
	const pieces, limit = 300, 40 * time.Millisecond
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "pieces", Limit: limit})
	must(t, err)
	piece := perMillisecond() / 50
	piecewise := func(ctx context.Context) error {
		for range pieces {
			if err := Block(ctx, func() error { sink.Add(count(20 * piece)); return nil }); err != nil {
				return err
			}
			sink.Add(count(piece))
		}
		return nil
	}
	one, other := rt.Go(background, "pieces", piecewise), rt.Go(background, "pieces", piecewise)
	for _, h := range []*Handle{one, other} {
		if err := h.Wait(background); err != nil {
			t.Errorf("a limit of %v threw into a task that runs for 6 ms: %v", limit, err)
		}
	}
}
