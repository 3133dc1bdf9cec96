package analyzer

import (
	"testing"

	"github.com/cocoon-go/cocoon/stubs"
)

// Rates that are meant as counts within a window.
func TestRatesAsCounts(t *testing.T) {
	states := statesOf(map[string]any{"failures": 0, "served": 0, "db_timeouts": 0})
	for _, c := range []struct{ cond, reason, want string }{
		{`rate("failures", duration("1m")) >= 5`, "x", `rate("failures", duration("1m")) >= 5 is about each second, and holds from 300 within 1m0s on; write rate("failures", duration("1m")) * 60 > 4 and state.failures > 4 for 5 within 1m0s; or 5.0, if 5 each second are meant`},
		{`3 < rate("failures", duration("30s"))`, "x", `holds from 90 within 30s on`},
		{`let bad = rate("failures", duration("1m")); bad > 5`, "x", `bad > 5 is about each second, and holds from 300 within 1m0s on; write bad * 60 > 5 and state.failures > 5 for more than 5 within 1m0s`},
		{`rate("db_timeouts", duration("1m")) > 5`, "x", `holds from 300 within 1m0s on`},
		{`rate("failures", duration("1m")) >= 5.0`, "x", ""},
		{`rate("failures", duration("1m")) * 60 > 4 and state.failures > 4`, "x", ""},
		{`rate("failures", duration("1s")) >= 5`, "x", ""},
		{`rate("failures", duration("1m")) > 0`, "x", ""},
		{`rate("failures", duration("1m")) < 5`, "x", ""},
		{`rate("served", duration("1m")) >= 5`, "x", ""},
		{`rate("served", duration("30s")) >= 5`, "5 requests in 30s", "holds from 150 within 30s on; write rate(\"served\", duration(\"30s\")) * 30 > 4 for 5 within 30s"},
		{`rate("served", duration("30s")) >= 5.0`, "more than 5 in 30 seconds", "holds from 150 within 30s on"},
		{`rate("served", duration("30s")) >= 5`, "5 requests a second, over 30s", ""},
		{`rate("served", duration("30s")) >= 5`, "4 requests in 30s", ""},
		{`rate("served", duration("30s")) >= 5`, "5 requests in 10s", ""},
		{`rate("served", duration("1m")) >= 5`, "5 requests a minute", `"5 requests a minute" speaks of a minute`},
	} {
		let, cond := "", c.cond
		if c.cond[:3] == "let" {
			let, cond = c.cond[:len(c.cond)-len("bad > 5")], "bad > 5"
		}
		s := on(stubs.Enqueue, let+cond+` and not chance(0.1) ? throw("`+c.reason+`") : continue()`)
		checkSpec(t, states, s, c.want)
	}
}
