package cocoon

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// of is a context of a client's task.
func of(user string) context.Context { return WithLabel(background, "user", user) }

// Policies write a value for each key, and tasks read it.
func TestKeyedState(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"n": 1, "seen": Keyed{Keys: 10}, "spent": Keyed{First: time.Second, Keys: 10}, "flag": Keyed{First: false, Keys: 2}}))
	register(t, rt, Policy{Name: "count", On: OnExit, Expr: `
		let user = task.labels.user;
		add("seen", user, 1); max("spent", user, state.spent[task.labels.user] * 2);
		state.seen["gold"] > 1 ? set("flag", "many", true) : set("flag", "few", true)`})
	for _, user := range []string{"gold", "tin", "gold", "", "gold"} {
		must(t, rt.Run(of(user), "job", idle))
	}
	must(t, rt.Run(background, "job", idle)) // has no label
	for _, c := range []struct {
		state string
		key   []any
		want  any
	}{
		{"seen", []any{"gold"}, int64(3)}, {"seen", []any{"tin"}, int64(1)}, {"seen", []any{""}, int64(2)}, {"seen", []any{"none"}, int64(0)},
		{"spent", []any{"gold"}, 8 * time.Second}, {"spent", []any{"none"}, time.Second}, {"flag", []any{"many"}, true}, {"flag", []any{"other"}, false},
		{"seen", nil, nil}, {"seen", []any{"gold", "tin"}, nil}, {"n", []any{"gold"}, nil}, {"n", nil, int64(1)}, {"none", []any{"gold"}, nil},
	} {
		if got := rt.State(c.state, c.key...); got != c.want {
			t.Errorf("%s of %q is %v, want %v", c.state, c.key, got, c.want)
		}
	}
	if st := rt.Stats().States; len(st) != 3 || st["seen"] != (StateStats{Keys: 3, MaxKeys: 10}) || rt.StateBool("flag") {
		t.Errorf("%+v", st)
	}
}

// Clients cannot make a state grow, by many keys or by long keys, and cannot evict the keys in use.
func TestManyAndLongKeys(t *testing.T) {
	const bound, long = 10_000, 20
	many := longtest.Count(1_000_000, 30_000)
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"n": Keyed{Keys: bound}}))
	register(t, rt, Policy{Name: "events", On: policy.On(stubs.Custom), Expr: `add("n", event.name, 1)`})
	register(t, rt, Policy{Name: "tasks", On: OnExit, Expr: `add("n", task.labels.user, 1)`})
	for i := range bound {
		rt.Notify(fmt.Sprint(i), 0)
	}
	before := heapNow()
	for i := range many {
		rt.Notify(fmt.Sprint("client ", i), 0)
		if i%5_000 == 0 {
			rt.Notify("gold", 0)
		}
	}
	text := strings.Repeat("x", 1<<20)
	for i := range long {
		for range 2 {
			must(t, rt.Run(of(text+fmt.Sprint(i)), "job", idle))
		}
	}
	if got := rt.State("n", text+"0"); got != int64(2) {
		t.Errorf("a key of a megabyte was counted %v times", got)
	}
	if got := rt.State("n", "gold"); got != int64(many/5_000) {
		t.Errorf("the key in use was counted %v times of %d", got, many/5_000)
	}
	if after := heapNow(); after > before+4<<20 {
		t.Errorf("the heap grew by %d bytes", after-before)
	}
	if st := rt.Stats().States["n"]; st != (StateStats{bound, bound, int64(many + 1 + long), 0}) {
		t.Errorf("%+v", st)
	}
}

func heapNow() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A bucket lets its burst pass in all, on any number of loops; a bucket per loop its burst on each.
func TestTokenBucket(t *testing.T) {
	const burst = 1000
	for name, c := range map[string]struct {
		declared any
		take     string
		want     int64
	}{
		"one":               {Bucket{Rate: 1e-9, Burst: burst}, `take("bucket", 1)`, burst},
		"two":               {Bucket{Rate: 1e-9, Burst: burst}, `take("bucket", 1 + queue.suspended) and not false`, burst},
		"floats":            {Bucket{Rate: 1e-9, Burst: burst}, `take("bucket", 0.5)`, 2 * burst},
		"by key":            {Keyed{First: Bucket{Rate: 1e-9, Burst: burst}, Keys: 10}, `take("bucket", loop.name, 1)`, 2 * burst},
		"by constant":       {Keyed{First: Bucket{Rate: 1e-9, Burst: burst}, Keys: 10}, `take("bucket", "x", 1)`, burst},
		"per loop":          {PerLoop{First: Bucket{Rate: 1e-9, Burst: burst}}, `take("bucket", 1)`, 2 * burst},
		"by key, per loop":  {PerLoop{First: Keyed{First: Bucket{Rate: 1e-9, Burst: burst}, Keys: 1}}, `take("bucket", "x", 1)`, 2 * burst},
		"not on this path":  {Bucket{Rate: 1e-9, Burst: burst}, `queue.length < 0 and take("bucket", 1) or true`, 4 * burst},
		"none is there":     {Bucket{Rate: 1e-9, Burst: 1}, `queue.length > 5 ? true : take("bucket", 1)`, 1},
		"nothing for an if": {Bucket{Rate: 1e-9, Burst: burst}, `(task.kind == "safe" ? take("bucket", 2) : take("bucket", 1))`, burst},
	} {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 1})
			must(t, rt.RegisterState(map[string]any{"passed": 0}))
			newLoopOf(t, rt, "second", 1)
			register(t, rt, Policy{Name: "take", On: OnExit, State: map[string]any{"bucket": c.declared},
				Expr: `let ok = ` + c.take + `; ok ? add("passed", 1) : continue()`})
			bothLoops(t, rt, 2*burst)
			if got := rt.State("passed"); got != c.want {
				t.Errorf("%v of %d passed, want %d", got, 4*burst, c.want)
			}
		})
	}
}

// No count by key is lost on several loops, even if two effects write one key.
func TestNoCountByKeyIsLost(t *testing.T) {
	const each = 10_000
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"n": Keyed{Keys: 5}, "m": Keyed{Keys: 5}, "torn": 0}))
	newLoopOf(t, rt, "second", 1)
	register(t, rt, Policy{Name: "count", On: OnExit, Expr: `add("n", task.name, 1); add("n", "job", 2); set("m", "job", state.m[task.name] + 3);
		state.n[task.name] != state.m["job"] ? add("torn", 1) : continue()`})
	register(t, rt, Policy{Name: "read", On: OnStart, Expr: `state.m[task.name] < 0 ? throw("torn") : continue()`}) // to read is to use the key
	stop := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		for last := int64(0); ; {
			n := rt.State("n", "job").(int64)
			if n < last || n%3 != 0 {
				t.Errorf("read %d behind %d", n, last)
			}
			last = n
			select {
			case <-stop:
				return
			default:
				runtime.Gosched()
			}
		}
	})
	bothLoops(t, rt, each)
	close(stop)
	reader.Wait()
	if n, m, torn := rt.State("n", "job"), rt.State("m", "job"), rt.State("torn"); n != int64(6*each) || m != int64(6*each) || torn != int64(0) {
		t.Errorf("n %v, m %v, torn %v", n, m, torn)
	}
}

// An evaluation that errs writes no key and takes nothing.
func TestStepByKeyIsWholeOrNothing(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"n": Keyed{Keys: 5}, "f": Keyed{First: 1.0, Keys: 5}, "bucket": Bucket{Rate: 1e-9, Burst: 5}, "whole": 0}))
	r := register(t, rt, Policy{Name: "p", On: OnNotify("go"), Expr: `
		add("n", "a", 1); set("whole", 1);
		take("bucket", 1) ? add("f", "a", event.value) : add("n", "b", 9223372036854775807)`})
	rt.Notify("go", math.NaN())
	if st := r.Stats(); st.Errors != 1 || st.Effects != 0 {
		t.Errorf("%+v", st)
	}
	if n, f, b, whole := rt.State("n", "a"), rt.State("f", "a"), rt.State("bucket"), rt.State("whole"); n != int64(0) || f != 1.0 || b != 5.0 || whole != int64(0) {
		t.Errorf("n %v, f %v, bucket %v, whole %v", n, f, b, whole)
	}
	rt.Notify("go", 1)
	if n, f, b := rt.State("n", "a"), rt.State("f", "a"), rt.State("bucket").(float64); n != int64(1) || f != 2.0 || math.Abs(b-4) > 1e-6 {
		t.Errorf("n %v, f %v, bucket %v", n, f, b)
	}
	if st := rt.Stats().States["n"]; st.Keys != 1 {
		t.Errorf("%+v", st)
	}
}

// Only observing policies see the writes of observing policies, key by key, until an enforcing
// policy writes the key.
func TestShadowOfAKey(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"n": Keyed{Keys: 5}, "bucket": Keyed{First: Bucket{Rate: 1e-9, Burst: 5}, Keys: 2}}))
	register(t, rt, Policy{Name: "dry", On: OnNotify("dry"), Mode: Observe, Expr: `add("n", "a", 10); add("n", "b", 10); take("bucket", "a", 3) ? add("n", "c", 1) : continue()`})
	register(t, rt, Policy{Name: "wet", On: OnNotify("wet"), Expr: `add("n", "a", 1)`})
	look := register(t, rt, Policy{Name: "look", On: OnNotify("look"), Mode: Observe,
		Expr: `state.n["a"] == 1 and state.n["b"] == 10 and state.bucket["a"] < 2.5 ? add("n", "a", 0) : continue()`})
	rt.Notify("dry", 0)
	if a, b, tokens := rt.State("n", "a"), rt.State("n", "b"), rt.State("bucket", "a"); a != int64(0) || b != int64(0) || tokens != 5.0 {
		t.Errorf("a dry run leaves %v, %v and %v tokens", a, b, tokens)
	}
	rt.Notify("wet", 0)
	rt.Notify("look", 0)
	if st := look.Stats(); st.WouldEffect != 1 {
		t.Errorf("%+v", st)
	}
	must(t, rt.Policy("dry").SetMode(Off)) // its shadow ends
	register(t, rt, Policy{Name: "again", On: OnNotify("again"), Mode: Observe, Expr: `state.n["b"] == 0 and state.bucket["a"] > 4.5 ? add("n", "b", 1) : continue()`})
	rt.Notify("again", 0)
	if st := rt.Policy("again").Stats(); st.WouldEffect != 1 {
		t.Errorf("%+v", st)
	}
}

// A dry run and a task that read a key do not use it.
func TestDryRunsUseNoKeys(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"n": Keyed{Keys: 2}}))
	register(t, rt, Policy{Name: "dry", On: OnNotify("read"), Mode: Observe, Expr: `state.n["a"] > 5 ? cancel() : continue()`})
	register(t, rt, Policy{Name: "wet", On: policy.On(stubs.Custom), Expr: `event.name == "read" ? continue() : add("n", event.name, 1)`})
	for _, name := range []string{"a", "b", "read"} {
		rt.Notify(name, 0)
	}
	if a := rt.State("n", "a"); a != int64(1) {
		t.Errorf("a is %v", a)
	}
	rt.Notify("c", 0)
	if a, b := rt.State("n", "a"), rt.State("n", "b"); a != int64(0) || b != int64(1) {
		t.Errorf("a is %v and b %v: the key that is read stays", a, b)
	}
}

// An evaluation with keys that are there makes no garbage.
func TestKeyedEvaluationDoesNotAllocate(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"n": Keyed{Keys: 5}, "bucket": Keyed{First: Bucket{Rate: 1, Burst: 5}, Keys: 5}}))
	register(t, rt, Policy{Name: "p", On: OnNotify("go"), Expr: `add("n", event.name, 1); state.n["x"] > 5 ? cancel() : take("bucket", event.name, 1) ? continue() : max("n", "y", 1)`})
	if n := testing.AllocsPerRun(1000, func() { rt.Notify("go", 1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestRegisterKeyedRefused(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	for want, declared := range map[string]any{
		"keeps 1 to 1000000 keys, and not 0":         Keyed{First: 1},
		"keeps 1 to 1000000 keys, and not 1000001":   Keyed{Keys: 1_000_001},
		"has the time to live -1s":                   Keyed{Keys: 1, TTL: -time.Second},
		"and a bucket takes 5s to fill":              Keyed{First: Bucket{Rate: 1, Burst: 5}, Keys: 1, TTL: 4 * time.Second},
		"has the burst 0":                            Bucket{Rate: 1},
		"has the rate NaN":                           Bucket{Rate: math.NaN(), Burst: 1},
		"has the rate +Inf":                          Keyed{First: Bucket{Rate: math.Inf(1), Burst: 1}, Keys: 1},
		"has the burst -1":                           Bucket{Rate: 1, Burst: -1},
		"has the Go type policy.Keyed":               Keyed{First: Keyed{Keys: 1}, Keys: 1},
		"has the Go type policy.PerLoop":             Keyed{First: PerLoop{First: 1}, Keys: 1},
		"is NaN; want a finite number":               Keyed{First: math.NaN(), Keys: 1},
		"has the Go type string":                     Keyed{First: "x", Keys: 1},
		"only a private state of a policy can be":    PerLoop{First: Keyed{Keys: 1}},
		"is one of each loop; only a private state ": PerLoop{First: Bucket{Rate: 1, Burst: 1}},
	} {
		if err := rt.RegisterState(map[string]any{"n": declared}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", declared, err, want)
		}
	}
	if rt.State("n") != nil {
		t.Error("something was registered")
	}
}
