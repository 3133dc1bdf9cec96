package lang

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// keyedEnv has keyed states and buckets.
var keyedEnv = Env{
	On: stubs.Tick,
	States: map[string]stubs.Type{"served": stubs.Int, "ratio": stubs.Float, "spent": stubs.Duration, "pairs": stubs.Duration,
		"shards": stubs.Duration, "numbers": stubs.Duration, "bucket": stubs.Float, "requests": stubs.Float},
	Tables: map[string]Table{"spent": {Keyed: true, By: ir.KeyTypes{stubs.Name}}, "pairs": {Keyed: true, By: ir.KeyTypes{stubs.Name, stubs.Name}},
		"shards": {Keyed: true, By: ir.KeyTypes{stubs.Name, stubs.Int}}, "numbers": {Keyed: true, By: ir.KeyTypes{stubs.Int}},
		"bucket": {Burst: 5}, "requests": {Keyed: true, By: ir.KeyTypes{stubs.Name}, Burst: 5}},
}

// TestKeysThatAreRead looks at what a program reads, and by which key.
func TestKeysThatAreRead(t *testing.T) {
	for text, want := range map[string]string{
		`state.spent["gold"]`:                               `state.spent["gold"]`,
		`state.spent.gold`:                                  `state.spent["gold"]`,
		`state["spent"]['gold']`:                            `state.spent["gold"]`,
		`state.spent[""]`:                                   `state.spent[""]`,
		`state.spent[task.name]`:                            `task.name, state.spent[task.name]`,
		`state.spent[task.labels.user]`:                     `task.labels["user"], state.spent[task.labels["user"]]`,
		`state.spent[tenant.name] + state.spent[loop.name]`: `tenant.name, state.spent[tenant.name], loop.name, state.spent[loop.name]`,
		`state.spent[task.section] + state.spent["task.section"] + state.spent[task.section]`: `task.section, state.spent[task.section], state.spent["task.section"]`,
		`(let user = task.labels.user; let same = user; state.spent[same])`:                   `task.labels["user"], state.spent[task.labels["user"]]`,
		`(let gold = "gold"; state.spent[gold])`:                                              `state.spent["gold"]`,
		`state.pairs[tenant.name][task.name]`:                                                 `tenant.name, task.name, state.pairs[tenant.name][task.name]`,
		`state.pairs.gold["a"] + state.pairs["a"].gold`:                                       `state.pairs["gold"]["a"], state.pairs["a"]["gold"]`,
		`(let shard = int(task.labels.shard, 1); state.shards[task.name][shard])`:             `int(task.labels["shard"], 1), task.name, state.shards[task.name][int(task.labels["shard"], 1)]`,
		`state.numbers[-3] + state.numbers[clock.hour] + state.numbers[-3]`:                   `state.numbers[-3], clock.hour, state.numbers[clock.hour]`,
	} {
		p, err := Parse(text+` > duration("1s") ? switch() : continue()`, keyedEnv)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var paths []string
		for _, r := range p.Reads {
			paths = append(paths, r.String())
		}
		if got := strings.Join(paths, ", "); got != want {
			t.Errorf("%s reads %s, want %s", text, got, want)
		}
	}
}

func TestKeyedRefused(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`state.spent > duration("1s") ? switch() : continue()`, "1:1: the state spent has a value for each key; write state.spent[tenant.name], or another name as the key"},
		{`state.spent[task.running] > duration("1s") ? switch() : continue()`, "1:13: the key of a state is a name that a state stub has, or a string constant, and task.running is a duration; write one of task.name, task.section, task.labels.NAME, arriving.name, arriving.labels.NAME, tenant.name, loop.name, event.name, or a string in quotes"},
		{`state.spent[task.cancelled ? task.name : task.section] > duration("1s") ? switch() : continue()`, "1:13: the key of a state is"},
		{`state.spent[task.kind] > duration("1s") ? switch() : continue()`, "1:13: the key of a state is"},
		{`state.spent[1] > duration("1s") ? switch() : continue()`, "1:13: the key of a state is"},
		{`state.spent[pattern("a*")] > duration("1s") ? switch() : continue()`, "pattern() is allowed only after in"},
		{`state.spent.gold.x > duration("1s") ? switch() : continue()`, `1:1: the key of the state spent has 2 parts here; its keys are by name, as in state.spent[tenant.name]; declare it with by: [name, name], or [name, int], for a value of each pair`},
		{`state.pairs[task.name] > duration("1s") ? switch() : continue()`, "1:1: the key of the state pairs has 1 part here; its keys are by name and name, as in state.pairs[tenant.name][task.name]"},
		{`state.pairs["a"]["b"]["c"] > duration("1s") ? switch() : continue()`, "the key of the state pairs has 3 parts here; its keys are by name and name, as in state.pairs[tenant.name][task.name]; a key has at most 2 parts"},
		{`state.pairs[task.name, tenant.name] > duration("1s") ? switch() : continue()`, `1:22: unexpected ","; a key of two parts is written state.NAME[tenant.name][task.name]`},
		{`state.pairs > duration("1s") ? switch() : continue()`, "the state pairs has a value for each key; write state.pairs[tenant.name][task.name], or another name and name as the key"},
		{`state.shards[task.name]["3"] > duration("1s") ? switch() : continue()`, `1:25: this key is a plain number that a state stub has, or a constant, and "3" is a string; write task.priority, int(task.labels.NAME)`},
		{`state.numbers[hash(task.name) % 8] > duration("1s") ? switch() : continue()`, "and hash(task.name) % 8 is a count"},
		{`state.numbers[state.served] > duration("1s") ? switch() : continue()`, "and state.served is a count"},
		{`state.numbers[1.5] > duration("1s") ? switch() : continue()`, "and 1.5 is a plain number"},
		{`add("shards", task.name, duration("1s"))`, "1:1: the key of the state shards has 1 part here; its keys are by name and int"},
		{`state.served[tenant.name] > 1 ? switch() : continue()`, "1:1: state.served is an int and has no fields; declare it with keys"},
		{`state.spend[tenant.name] > 1 ? switch() : continue()`, `1:1: there is no state "spend"; did you mean spent?`},
		{`any(task.stack, state.spent[#] > duration("1s")) ? switch() : continue()`, "and # is a name"},
		{`set("spent", duration("1s"))`, `1:1: the state spent has a value for each key; write set("spent", tenant.name, value), or another name as the key`},
		{`set("served", "gold", 1)`, `1:15: the state served has no keys; write set("served", value), or declare the state with keys`},
		{`set("spent", "gold", 1)`, `1:22: the state spent is a duration and 1 is a plain number; write duration("1ms")`},
		{`set("spent", "gold", duration("1s"), 1)`, "1:1: the key of the state spent has 2 parts here"},
		{`set("pairs", "gold", "tin", "zinc", duration("1s"))`, "set takes 2 arguments, not 5"},
		{`set("requests", "gold", 1.0)`, "1:5: the state requests is a token bucket"},
		{`add("bucket", 1)`, `1:5: the state bucket is a token bucket, which time fills and take() alone empties; write take("bucket", ...)`},
		{`take("bucket", 1)`, `1:1: a policy ends in a verdict, and take("bucket", 1) is a bool; write`},
		{`take("bucket", 1); switch()`, `1:1: take("bucket", 1) is a bool that nothing uses; name it with let`},
		{`take("bucket") ? switch() : continue()`, "take takes 2 arguments, not 1"},
		{`take("bucket", "gold", 1) ? switch() : continue()`, "1:16: the state bucket has no keys"},
		{`take("requests", 1) ? switch() : continue()`, `the state requests has a value for each key; write take("requests", tenant.name, tokens)`},
		{`take("ratio", 1) ? switch() : continue()`, "take() takes from a token bucket, and the state ratio is a float; declare it with rate and burst"},
		{`take("none", 1) ? switch() : continue()`, `there is no state "none"`},
		{`take(task.name, 1) ? switch() : continue()`, "the name of a state must be a string constant"},
		{`take("bucket", task.running) ? switch() : continue()`, `a number of tokens is an int or a float, and task.running is a duration; divide by a unit, as in task.running / duration("1ms")`},
		{`take("bucket", true) ? switch() : continue()`, "and true is a bool"},
		{`count(1..3, not take("bucket", #)) > 1 ? switch() : continue()`, "take() is in a predicate, and would take for each element; take before: let ok = take(...);"},
		{`let take = 1; continue()`, "take already means something else"},
		{`state.bucket.x > 1 ? switch() : continue()`, "state.bucket is a float and has no fields"},
	} {
		_, err := Parse(c.text, keyedEnv)
		if err == nil {
			t.Errorf("%s: no error, want %q", c.text, c.want)
			continue
		}
		checkError(t, err)
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestLookUpsAreBounded(t *testing.T) {
	text := func(keys int) string {
		s := "false"
		for i := range keys {
			s += fmt.Sprintf(" or state.spent.k%d > state.spent[\"k%d\"]", i, i)
		}
		return s + " ? switch() : continue()"
	}
	if p, err := Parse(text(MaxLookUps), keyedEnv); err != nil || p.LookUps() != MaxLookUps {
		t.Error(err)
	}
	if _, err := Parse(text(MaxLookUps+1), keyedEnv); err == nil || !strings.Contains(err.Error(), "the policy reads more than 64 keys and buckets; split it") {
		t.Error(err)
	}
}

// TestTake evaluates take() with tokens that are there and numbers that are wanted.
func TestTake(t *testing.T) {
	p, err := Parse(`let ok = take("bucket", state.ratio); not ok or queue.length > 3 ? switch() : continue()`, keyedEnv)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		there, wanted float64
		taken         bool
		err           error
	}{
		{5, 1, true, nil}, {5, 5, true, nil}, {0.5, 0.5, true, nil}, {0, 0, true, nil}, {5, math.Copysign(0, -1), true, nil},
		{0.999, 1, false, nil}, {5, 5.000001, false, nil}, {5, math.Inf(1), false, nil},
		{5, -1e-300, false, ir.ErrTokens}, {5, math.Inf(-1), false, ir.ErrTokens}, {5, math.NaN(), false, ir.ErrTokens},
		{math.NaN(), 1, false, nil},
	} {
		snapshot := make([]uint64, p.Words)
		for _, r := range p.Reads {
			switch r.String() {
			case "state.bucket":
				snapshot[r.Offset] = math.Float64bits(c.there)
			case "state.ratio":
				snapshot[r.Offset] = math.Float64bits(c.wanted)
			}
		}
		out, steps, err := ir.Interpret(p, snapshot)
		if !errors.Is(err, c.err) || steps > ir.Bound(p.Root) {
			t.Errorf("%+v: %d steps, %v", c, steps, err)
		}
		if taken := out.Fired == 1; taken != c.taken || err == nil && taken != (out.Decision == stubs.Continue) || taken && out.Values[0] != math.Float64bits(c.wanted) {
			t.Errorf("%+v: %+v", c, out)
		}
		if c.taken {
			left, err := p.Sites[0].Update(math.Float64bits(c.there), out.Values[0])
			if got := math.Float64frombits(left); err != nil || got != c.there-c.wanted || got < 0 {
				t.Errorf("%+v: %v left, %v", c, got, err)
			}
		}
	}
	if bucket := p.Reads[slices.IndexFunc(p.Reads, func(r ir.Read) bool { return r.Key == "bucket" })]; bucket.Burst != 5 {
		t.Errorf("it holds %v", bucket.Burst)
	}
}

// TestTakeOnItsPath: what is not evaluated takes nothing, and effects are in the order of the text.
func TestTakeOnItsPath(t *testing.T) {
	p, err := Parse(`task.cancelled and take("bucket", 1) or take("requests", task.name, 2) ? set("served", 1) : throw("none")`, keyedEnv)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		cancelled        bool
		bucket, requests float64
		fired            uint64
	}{{false, 5, 5, 0b110}, {true, 5, 5, 0b101}, {true, 0, 5, 0b110}, {true, 0, 0, 0}, {false, 5, 1, 0}} {
		snapshot := make([]uint64, p.Words)
		for _, r := range p.Reads {
			switch r.String() {
			case "task.cancelled":
				snapshot[r.Offset] = stubs.FromBool(c.cancelled)
			case "state.bucket":
				snapshot[r.Offset] = math.Float64bits(c.bucket)
			case "state.requests[task.name]":
				snapshot[r.Offset] = math.Float64bits(c.requests)
			}
		}
		if out, _, err := ir.Interpret(p, snapshot); err != nil || out.Fired != c.fired || (out.Decision == stubs.Throw) != (c.fired == 0) {
			t.Errorf("%+v: %+v, %v", c, out, err)
		}
	}
}
