package cocoon

import (
	"context"
	"testing"
)

// A minute after the first task the log says which policies have not been evaluated, because none
// of their events has happened.
func TestUnevaluatedPoliciesAreLogged(t *testing.T) {
	const line = "the policy has not been evaluated: "
	const block, other, custom = "none of the tasks that have come has waited in Block", "policy=other", "no custom event has come so far"
	for _, c := range []struct {
		name string
		do   func(rt *Runtime) error
		want map[string]int
	}{
		{"nothing", func(rt *Runtime) error { return rt.Run(background, "a", idle) }, map[string]int{line: 2, block: 1, custom: 1, other: 0}},
		{"Block", func(rt *Runtime) error {
			return rt.Run(background, "a", func(ctx context.Context) error { return Block(ctx, func() error { return nil }) })
		}, map[string]int{line: 1, block: 0, custom: 1}},
		{"an event", func(rt *Runtime) error { rt.Notify("rain", 1); return rt.Run(background, "a", idle) }, map[string]int{line: 1, block: 1, custom: 0}},
	} {
		var log journal
		rt := start(t, Config{Slots: 1, Logger: log.logger()})
		load(t, rt, `
states: {n: 0}
policies:
- {name: waits, on: [block, unblock], match: {tasks: [a]}, expr: 'add("n", 1)'}
- {name: other, on: block, match: {tasks: [b]}, expr: 'add("n", 1)'}
- {name: switched-off, on: block, mode: off, expr: 'add("n", 1)'}
- {name: events, on: custom, expr: 'add("n", 1)'}
- {name: exits, on: [exit, block], match: {tasks: [b]}, expr: 'state.n > 9 ? set("n", 0) : continue()'}
`)
		must(t, c.do(rt))
		rt.tellUnmet()
		rt.tellUnmet() // says nothing again
		rt.log.flush()
		for want, times := range c.want {
			if n := log.count(want); n != times {
				t.Errorf("%s: %d lines with %s, want %d:\n%s", c.name, n, want, times, &log)
			}
		}
	}
}
