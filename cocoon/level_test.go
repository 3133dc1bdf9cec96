package cocoon

import (
	"context"
	"testing"
	"time"
)

// TestLevelFallsWhileAllAreRefused checks that a policy that lowers a level step by step goes on
// although the level has all tasks refused, so that no task runs: each arrival brings another tick.
func TestLevelFallsWhileAllAreRefused(t *testing.T) {
	rt := start(t, Config{Slots: 1, QuietThrows: true})
	must(t, rt.RegisterState(map[string]any{"level": 0}))
	register(t, rt, Policy{Name: "level", On: Every(2 * time.Millisecond), Expr: `queue.oldest > duration("20ms")
		? set("level", 4) : set("level", max(0, state.level - 1))`})
	register(t, rt, Policy{Name: "shed", On: OnEnqueue, Expr: `state.level > 1 ? throw("shed by level") : continue()`})
	l, err := rt.NewLoop(LoopConfig{Name: "one", Slots: 1, Exclusive: true}) // it lends no slot to the second
	must(t, err)
	must(t, l.Run(background, "first", func(context.Context) error {
		second := l.Go(background, "second", nothing)
		eventually(t, "the level to rise", func() bool { return rt.StateValues()[0].Value == int64(4) })
		second.Cancel()
		return nil
	}))
	eventually(t, "a task to be let in", func() bool { return l.Run(background, "later", nothing) == nil })
}
