package cocoon

import (
	"fmt"
	"testing"

	"github.com/cocoon-go/cocoon/internal/lang"
)

// A policy on arrivals that does not refer to running tasks is evaluated once per arrival, however
// many tasks run: a token bucket loses one token for each arrival.
func TestArrivalIsEvaluatedOnce(t *testing.T) {
	for _, running := range []int{1, 4, 8} {
		for _, on := range []string{"on: enqueue", "{on: enqueue, every: 10h}"} {
			t.Run(fmt.Sprint(running, on), func(t *testing.T) {
				rt := start(t, Config{Slots: running, StallAfter: -1})
				must(t, rt.RegisterState(map[string]any{"tokens": 100}))
				must(t, rt.RegisterPreemptibleFunc("holder"))
				p := Policy{
					Name: "bucket", On: OnEnqueue, Match: Match{Tasks: []string{"request"}},
					Expr: `state.tokens < 1 ? throw("rate limit") : set("tokens", state.tokens - 1)`,
				}
				if on != "on: enqueue" {
					p.On.Interval = lang.MaxInterval
				}
				r := register(t, rt, p)
				release := taken(t, rt.Loop())
				var waiting []*Handle
				for i := range 5 {
					waiting = append(waiting, rt.Go(background, "request", idle))
					eventually(t, "it to wait", func() bool { return rt.Stats().Loops[0].Queued == i+1 })
				}
				if st := r.Stats(); rt.State("tokens") != int64(95) || st.Evaluations != 5 {
					t.Errorf("5 arrivals left %v of 100 tokens, after %d evaluations", rt.State("tokens"), st.Evaluations)
				}
				release()
				for _, h := range waiting {
					must(t, h.Wait(background))
				}
			})
		}
	}
}
