package cocoon

import "testing"

// A minute after the first task the log says which policies match none of the tasks that have come,
// because of their kinds.
func TestPoliciesOfOtherKindsAreLogged(t *testing.T) {
	const line = "match: none of the tasks that have come is [safe both], and the policy matches none of them"
	for document, want := range map[string]int{
		"":                    1,
		"tasks: {a: atomic}":  1,
		"tasks: {b: safe}":    1, // the policy is not about it
		"tasks: {a: safe}":    0,
		"tasks: {a: both}":    0,
		`tasks: {"z*": both}`: 0, // a task of the pattern may still come
	} {
		var log journal
		rt := start(t, Config{Slots: 1, Logger: log.logger()})
		load(t, rt, "policies: [{name: p, on: enqueue, match: {tasks: [a], kinds: [safe, both]}, expr: 'rank(-1)'}, {name: q, on: enqueue, match: {kinds: [atomic, safe]}, expr: 'queue.length > 9 ? throw(\"x\") : continue()'}]")
		if document != "" {
			load(t, rt, document)
		}
		must(t, rt.Run(background, "a", idle))
		rt.tellUnmet()
		rt.log.flush()
		if n := log.count(line); n != want {
			t.Errorf("%s: %d lines; want %d:\n%s", document, n, want, &log)
		}
	}
}
