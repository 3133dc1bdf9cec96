package cocoon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Keys may be ints, and pairs of names and ints. The parts of a pair are not interchangeable.
func TestKeysOfParts(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{
		"pairs":   Keyed{Keys: 10, By: []string{"name", "name"}},
		"shards":  Keyed{Keys: 10, By: []string{"name", "int"}},
		"numbers": Keyed{First: time.Second, Keys: 10, By: []string{"int"}},
		"names":   Keyed{Keys: 10, By: []string{"name"}},
		"buckets": Keyed{First: Bucket{Rate: 1e-9, Burst: 2}, Keys: 10, By: []string{"int", "int"}},
	}))
	register(t, rt, Policy{Name: "p", On: OnExit, Expr: `
		let user = task.labels.user; let shard = int(task.labels.shard);
		add("pairs", user, task.name, 1); add("pairs", task.name, "b", 10);
		add("shards", task.name, shard, state.shards["b"][7] + 1);
		add("numbers", shard, duration("1s")); add("numbers", -3, duration("1m"));
		add("names", user, 1);
		not take("buckets", shard, task.priority, 1) ? add("pairs", "empty", "", 1) : continue()`})
	run := func(name, user, shard string) {
		ctx := WithLabel(WithLabel(background, "user", user), "shard", shard)
		must(t, rt.Run(ctx, name, idle))
	}
	run("a", "b", "7")
	run("b", "a", "7")
	run("b", "a", "none")
	for _, c := range []struct {
		state string
		key   []any
		want  any
	}{
		{"pairs", []any{"b", "a"}, int64(1)}, {"pairs", []any{"a", "b"}, int64(12)}, {"pairs", []any{"b", "b"}, int64(20)}, {"pairs", []any{"a", "a"}, int64(0)},
		{"shards", []any{"a", 7}, int64(1)}, {"shards", []any{"b", int64(7)}, int64(1)}, {"shards", []any{"b", 0}, int64(2)}, {"shards", []any{"b", 1}, int64(0)},
		{"numbers", []any{7}, 3 * time.Second}, {"numbers", []any{0}, 2 * time.Second}, {"numbers", []any{-3}, time.Second + 3*time.Minute},
		{"names", []any{"a"}, int64(2)},
		{"buckets", []any{7, 0}, 0.0}, {"buckets", []any{0, 0}, 1.0}, {"buckets", []any{0, 7}, 2.0}, {"pairs", []any{"empty", ""}, int64(0)},
		{"pairs", []any{"a"}, nil}, {"pairs", []any{"a", 1}, nil}, {"shards", []any{7, "a"}, nil}, {"numbers", []any{"7"}, nil}, {"numbers", []any{7.0}, nil},
		{"pairs", []any{"a", "b", "c"}, nil}, {"pairs", nil, nil},
	} {
		if got := rt.State(c.state, c.key...); got != c.want && (c.state != "buckets" || got.(float64)-c.want.(float64) > 1e-3) {
			t.Errorf("%s of %v is %v, want %v", c.state, c.key, got, c.want)
		}
	}
}

// Ints that a client chooses neither make a state grow nor make its look-ups slow.
func TestChosenInts(t *testing.T) {
	const bound = 1000
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"n": Keyed{Keys: bound, By: []string{"int", "name"}}}))
	register(t, rt, Policy{Name: "p", On: policy.On(stubs.Custom), Expr: `add("n", int(event.name), "", 1)`})
	for i := range int64(50_000) {
		rt.Notify(fmt.Sprint(i<<32), 0)
	}
	if st := rt.Stats().States["n"]; st.Keys != bound || st.Evicted != 49_000 {
		t.Errorf("%+v", st)
	}
	if n := rt.State("n", int64(49_999)<<32, ""); n != int64(1) {
		t.Errorf("the last key has %v", n)
	}
}

// A document declares the types of keys. Other types make another state, which starts again.
func TestKeyTypesOfDocuments(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	file := filepath.Join(t.TempDir(), "policies.yaml")
	load := func(by, expr string) error {
		must(t, os.WriteFile(file, fmt.Appendf(nil, "version: 1\nstates: {n: {first: 0, keys: 5, by: %s}}\npolicies: [{name: p, on: exit, expr: '%s'}]\n", by, expr), 0o600))
		return rt.LoadPolicyFile(file)
	}
	must(t, load("[name, int]", `add("n", task.name, 1, 1)`))
	must(t, rt.Run(background, "a", idle))
	if n := rt.State("n", "a", 1); n != int64(1) {
		t.Errorf("got %v", n)
	}
	if err := load("[int, name]", `add("n", task.name, 1, 1)`); err == nil || !strings.Contains(err.Error(), "this key is a plain number") {
		t.Errorf("got %v", err)
	}
	must(t, load("[int, name]", `add("n", 1, task.name, 1)`))
	if n := rt.State("n", 1, "a"); n != int64(0) {
		t.Errorf("it does not start again: %v", n)
	}
}
