package analyzer

import (
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// The hint names the part of the day that the time to live comes near, or, if the key has a part of
// the day, a time to live that ends before it comes again.
func TestWindowHints(t *testing.T) {
	for _, c := range []struct {
		ttl        time.Duration
		key, store string
		want       string
	}{
		{10 * time.Minute, "", "", "make clock.minute the second part of the key, with by: [name, int] and ttl: 2m0s: each minute"},
		{time.Hour, "", "", "make clock.hour the second part of the key, with by: [name, int] and ttl: 2h0m0s: each hour"},
		{24 * time.Hour, "", "", "make clock.weekday the second part of the key, with by: [name, int] and ttl: 48h0m0s: each day"},
		{time.Hour, "[clock.minute]", "clock.minute, ", "write ttl: 2m0s: clock.minute has the same value again after 1h0m0s"},
		{24 * time.Hour, "[clock.hour]", "clock.hour, ", "write ttl: 2h0m0s: clock.hour has the same value again after 24h0m0s"},
	} {
		k := policy.Keyed{First: time.Duration(0), Keys: 500, TTL: c.ttl}
		if c.key != "" {
			k.By = []string{"name", "int"}
		}
		states := statesOf(map[string]any{"spent": k})
		up := on(stubs.Exit, `add("spent", task.name, `+c.store+`task.running)`)
		limit := on(stubs.Enqueue, `state.spent[arriving.name]`+c.key+` > duration("10s") ? throw("x") : continue()`)
		up.Zone, limit.Zone = "UTC", "UTC"
		got := Flows(members(t, states, up, limit), Declared{States: states})
		if len(got) != 1 || !strings.Contains(got[0].Err.Error(), c.want) {
			t.Errorf("ttl %v, key %q: %v; want %s", c.ttl, c.key, got, c.want)
		}
	}
}
