package isolate

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

// textEnvs are for an event policy and for a time policy: arriving.* belongs to the first,
// interval() to the second.
var textEnvs = [2]lang.Env{{On: stubs.Enqueue, States: states, Tables: keyedStates, Funcs: funcs}, {On: stubs.Tick, States: states, Tables: keyedStates, Funcs: funcs}}

var (
	states = map[string]stubs.Type{"b": stubs.Bool, "i": stubs.Int, "f": stubs.Float, "d": stubs.Duration, "n": stubs.Name,
		"k": stubs.Duration, "bucket": stubs.Float, "buckets": stubs.Float}
	keyedStates = map[string]lang.Table{"k": {Keyed: true}, "bucket": {Burst: 5}, "buckets": {Keyed: true, Burst: 5}}
	funcs       = map[string]bool{"F": true}
)

func envOf(text string) lang.Env {
	if strings.Contains(text, "interval") {
		return textEnvs[1]
	}
	return textEnvs[0]
}

// texts are typical policies, with one snapshot each (values not named are 0) and its result.
var texts = []struct {
	text  string
	state map[string]any
	want  string
}{
	{`task.section == "regex.match" and task.section_running > duration("100ms") ? throw("slow") : continue()`,
		map[string]any{"task.section": "regex.match", "task.section_running": 101 * time.Millisecond}, "throw 0 0"},
	{`task.section == "regex.match" and task.section_running > duration("100ms") ? throw("slow") : continue()`,
		map[string]any{"task.section": "other", "task.section_running": time.Hour}, "continue 0 0"},
	{`queue.safe > 0 and task.kind in ["preemptible", "both"] ? switch() : continue()`,
		map[string]any{"queue.safe": 1, "task.kind": "both"}, "switch 0 0"},
	{`if arriving.labels["tier"] == "gold" { set("i", state.i + 1); call("F") } else { set("i", 0) }; task.preemptions < 3 ? switch() : throw("often")`,
		map[string]any{`arriving.labels["tier"]`: "gold", "task.preemptions": 5, "state.i": 41}, "throw 0 11 0:0x2a 1:0x0"},
	{`let left = task.deadline - task.running; left < duration("1ms") ? throw("late") : continue()`,
		map[string]any{"task.deadline": 2 * time.Second, "task.running": 2 * time.Second}, "throw 0 0"},
	{`count(task.stack, # == "json") >= 2 or any(1..3, # == state.i) ? throw("deep") : continue()`,
		map[string]any{"task.stack": []string{"json", "http", "json"}}, "throw 0 0"},
	{`none(task.stack, # == "json") and all(task.stack, # != "") ? switch() : continue()`,
		map[string]any{"task.stack": []string{"a", "b"}}, "switch 0 0"},
	{`loop.utilization > 0.9 ? interval(duration("50us")) : cancel(); set("f", loop.utilization * 2); switch()`,
		map[string]any{"loop.utilization": 0.5}, "switch 0 110 1:0x0 2:0x3ff0000000000000"},
	{`set("d", min(task.running, 2 * task.waited)); set("b", state.f == state.f); continue()`,
		map[string]any{"task.running": 9 * time.Microsecond, "task.waited": 4 * time.Microsecond}, "continue 0 11 0:0x1f40 1:0x1"},
	{`rank(-arriving.priority); arriving.deadline < duration("1s") ? rank(min(arriving.deadline, 2 * queue.oldest)) : continue()`,
		map[string]any{"arriving.priority": 3, "arriving.deadline": time.Microsecond, "queue.oldest": time.Second}, "continue 0 11 0:0xfffffffffffffffd 1:0x3e8"},
	{`set("f", sqrt(state.f) + sqrt(4)); set("i", clamp(state.i, 2, 5)); continue()`,
		map[string]any{"state.f": 2.25, "state.i": 9}, "continue 0 11 0:0x400c000000000000 1:0x5"},
	{`sqrt(state.f) > 0 or sqrt(state.f) <= 0 ? switch() : continue()`, map[string]any{"state.f": -1.0}, "continue 0 0"},
	{`set("f", clamp(state.f, 0, 1)); continue()`, map[string]any{"state.f": math.NaN()}, "offset 0: not a number (NaN) as the value of a state"},
	{`set("f", sqrt(state.f)); continue()`, map[string]any{"state.f": -1.0}, "offset 0: not a number (NaN) as the value of a state"},
	{`set("d", clamp(task.running, state.d, duration("1ms"))); continue()`, map[string]any{"state.d": time.Second}, "continue 0 1 0:0xf4240"},
	{`set("i", hash("a", 7)); hash(arriving.labels.user, "x") % 2 == 0 and int(arriving.labels.level, 3) > 2 ? switch() : continue()`,
		map[string]any{`hash(arriving.labels["user"])`: 11, `int(arriving.labels["level"], 3)`: 3}, "continue 0 1 0:0x505f29d75a0be241"},
	{`chance(0.25) ? throw("unlucky") : continue()`, map[string]any{"the draw of chance 1": 0.2}, "throw 0 0"},
	{`state.i > 0 ? throw("busy", 2 * state.d) : state.i < 0 ? throw("later") : switch()`,
		map[string]any{"state.i": 1, "state.d": time.Second}, "throw 0 0 retry:2000000000"},
	{`state.i > 0 ? throw("busy", 2 * state.d) : state.i < 0 ? throw("later") : switch()`,
		map[string]any{"state.i": -1, "state.d": time.Second}, "throw 1 0"},
	{`throw("busy", state.d * state.f)`, map[string]any{"state.d": time.Second, "state.f": math.NaN()}, "offset 14: number out of"},
	{`queue.wait(0.99) > 2 * class.service(0.5, duration("30s")) and class.busy > 3 and queue.cost > duration("1s") ? throw("slow") : continue()`,
		map[string]any{"queue.wait(0.99)": time.Second, `class.service(0.5, duration("30s"))`: time.Millisecond, "class.busy": 4, "queue.cost": 2 * time.Second}, "throw 0 0"},
	{`rate("i", duration("5m")) > 2 and loop.rate < 10 ? set("d", average("d", duration("10s"))) : continue()`,
		map[string]any{`rate("i", duration("5m0s"))`: 2.5, `average("d", duration("10s"))`: time.Second, "loop.rate": 9.5}, "continue 0 1 0:0x3b9aca00"},
	{`let shard = int(task.labels.shard); state.k[task.labels.user][shard] > duration("1s") ? throw("much") : add("k", task.labels.user, shard, task.running)`,
		map[string]any{`state.k[task.labels["user"]][int(task.labels["shard"], 0)]`: time.Millisecond, "task.running": 5}, "continue 0 1 0:0x5"},
	{`state.k[task.labels.user] > duration("1s") ? throw("much") : add("k", task.labels.user, task.running)`,
		map[string]any{`state.k[task.labels["user"]]`: time.Second, "task.running": 5}, "continue 0 1 0:0x5"},
	{`take("bucket", 1) and take("buckets", tenant.name, state.bucket) ? continue() : throw("none")`,
		map[string]any{"state.bucket": 4.5, "state.buckets[tenant.name]": 4.5}, "continue 0 11 0:0x3ff0000000000000 1:0x4012000000000000"},
	{`take("bucket", 1) and take("buckets", tenant.name, state.bucket) ? continue() : throw("none")`,
		map[string]any{"state.bucket": 4.5, "state.buckets[tenant.name]": 4.25}, "throw 0 1 0:0x3ff0000000000000"},
	{`take("bucket", 1) and take("buckets", tenant.name, state.bucket) ? continue() : throw("none")`, nil, "throw 0 0"},
	{`let n = take("bucket", queue.length) ? 1 : 2; state.f >= 0 and take("buckets", "x", state.f) ? set("i", n) : set("i", -n)`,
		map[string]any{"state.bucket": 4.5, "queue.length": 4, "state.f": 0.5, `state.buckets["x"]`: 0.5}, "continue 0 111 0:0x4010000000000000 1:0x3fe0000000000000 2:0x1"},
	{`rank(state.i - 1); continue()`, map[string]any{"state.i": int64(-1 << 63)}, "offset 5: integer overflow"},
	{`state.i * state.i > 0 ? switch() : continue()`, map[string]any{"state.i": int64(1 << 40)}, "offset 0: integer overflow"},
	{`int(state.f) > 0 ? switch() : continue()`, map[string]any{"state.f": 1e30}, "offset 0: number out of the range of integers"},
}

func TestTexts(t *testing.T) {
	stores := engines(t)
	for _, c := range texts {
		p, err := lang.Parse(c.text, envOf(c.text))
		if err != nil {
			t.Errorf("%s\n%v", c.text, err)
			continue
		}
		v, err := analyzer.Verify(p, analyzer.Limits{})
		if err != nil {
			t.Errorf("%s\n%v", c.text, err)
			continue
		}
		if got := agree(t, stores, v.Program(), snapshotOf(t, p, c.state))[0]; !strings.HasPrefix(got, c.want) {
			t.Errorf("%s\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

// snapshotOf lays out values as the program reads them.
func snapshotOf(t *testing.T, p *ir.Program, state map[string]any) []uint64 {
	s := make([]uint64, p.Words)
	set := func(offset int, value any) {
		w, _, err := stubs.Word(value)
		if err != nil {
			t.Fatal(err)
		}
		s[offset] = w
	}
	for _, r := range p.Reads {
		value, ok := state[r.String()]
		if !ok {
			continue
		}
		elements, isList := value.([]string)
		if !isList {
			set(r.Offset, value)
			continue
		}
		set(r.Offset, len(elements))
		for i, e := range elements {
			set(r.Offset+1+i, e)
		}
	}
	return s
}

// FuzzText checks that every text that verifies also compiles, stays within its bound and has the
// same result in every evaluator, even over snapshots that no runtime would make.
func FuzzText(f *testing.F) {
	stores := engines(f)
	for i, c := range texts {
		f.Add(c.text, uint64(i))
	}
	f.Add(`non.(A"0")A0(A"")A()A()`, uint64(0)) // once made Parse leave its brackets
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		p, err := lang.Parse(text, envOf(text))
		if err != nil {
			return
		}
		v, err := analyzer.Verify(p, analyzer.Limits{})
		if err != nil {
			return
		}
		if v.Cost() != ir.Bound(p.Root) || v.Cost() > analyzer.DefaultCost {
			t.Errorf("verified at a cost of %d; the bound is %d", v.Cost(), ir.Bound(p.Root))
		}
		random := rand.New(rand.NewPCG(seed, 0))
		agree(t, stores, v.Program(), randomSnapshot(p, random), randomSnapshot(p, random), make([]uint64, p.Words))
	})
}

// randomSnapshot chooses among the extremes of each read's type.
func randomSnapshot(p *ir.Program, random *rand.Rand) []uint64 {
	data := make([]byte, p.Words)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	c := &choices{data}
	s := make([]uint64, p.Words)
	for _, r := range p.Reads {
		t := r.Type
		if t == stubs.NameList {
			t = stubs.Name
		}
		for i := range r.Words {
			s[r.Offset+i] = c.word(t)
		}
	}
	return s
}

// TestCompileVerified uses the public API.
func TestCompileVerified(t *testing.T) {
	p, err := lang.Parse(`queue.length > 2 ? switch() : continue()`, textEnvs[0])
	if err != nil {
		t.Fatal(err)
	}
	v, err := analyzer.Verify(p, analyzer.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range engines(t) {
		m, err := s.Compile(v)
		if err != nil {
			t.Fatal(err)
		}
		e, err := m.NewEvaluator()
		if err != nil {
			t.Fatal(err)
		}
		for length, want := range map[uint64]stubs.Decision{2: stubs.Continue, 3: stubs.Switch} {
			e.Snapshot()[0] = length
			if out, err := e.Eval(); err != nil || out.Decision != want {
				t.Errorf("%d: got %v, %v, want %v", length, out.Decision, err, want)
			}
		}
		if err := errors.Join(e.Close(), m.Close()); err != nil {
			t.Error(err)
		}
	}
}
