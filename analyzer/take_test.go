package analyzer

import (
	"errors"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

// TestTakes: which numbers of tokens are refused, and which takes from one bucket.
func TestTakes(t *testing.T) {
	const twice = `the policy takes from "bucket" twice on one path; take once, let ok = take(...);, or take on paths that exclude each other`
	for text, want := range map[string]string{
		`take("bucket", 1)`:                                      "",
		`take("bucket", 5)`:                                      "",
		`take("bucket", queue.length)`:                           "",
		`take("bucket", task.running / duration("1ms"))`:         "",
		`take("bucket", 5.0001)`:                                 `the bucket "bucket" holds 5 tokens, and never 5.0001; declare a greater burst, or take less`,
		`take("buckets", task.name, queue.length + 6)`:           `the bucket "buckets" holds 5 tokens, and never queue.length + 6`,
		`take("bucket", state.i)`:                                "a number of tokens is 0 or more, and state.i may be less here; guard it: state.i >= 0 and take(...)",
		`take("bucket", -1)`:                                     "a number of tokens is 0 or more, and -1 is less",
		`take("bucket", min(queue.length, -3))`:                  "a number of tokens is 0 or more, and min(queue.length, -3) is less",
		`state.i >= 0 and take("bucket", state.i)`:               "",
		`state.i >= 0 ? take("bucket", state.i) : false`:         "",
		`state.i < 0 or take("bucket", state.i)`:                 "",
		`state.i > 0 or take("bucket", state.i)`:                 "state.i may be less here",
		`take("bucket", max(state.i, 0))`:                        "",
		`take("bucket", abs(state.f))`:                           "abs(state.f) may be none (NaN) here",
		`take("bucket", max(state.f - state.g, 0))`:              "may be none (NaN) here",
		`state.f >= 0 and take("bucket", state.f)`:               "",
		`state.f == state.f and take("bucket", max(state.f, 0))`: "",
		`take("bucket", state.other)`:                            "",
		`take("bucket", 5 - state.other)`:                        "",
		`take("bucket", 4 - state.other)`:                        "may be less here",

		`take("bucket", 1) and take("other", 1)`:                                         "",
		`take("bucket", 1) and take("bucket", 1)`:                                        twice,
		`take("buckets", "a", 1) or take("buckets", "b", 1)`:                             `the policy takes from "buckets" twice`,
		`take("bucket", take("bucket", 1) ? 1 : 2)`:                                      twice,
		`take("bucket", take("other", 1) ? 1 : 2)`:                                       "",
		`task.cancelled ? take("bucket", 1) : take("bucket", 2)`:                         "",
		`(task.cancelled ? take("bucket", 1) : take("other", 2)) and take("other", 1)`:   `the policy takes from "other" twice`,
		`(take("bucket", 1) ? 1 : 2) > (task.cancelled ? 1 : take("bucket", 1) ? 1 : 2)`: twice,
		`(let ok = take("bucket", 1); ok == (not ok))`:                                   "",
		`(let ok = take("bucket", 1); ok or take("bucket", 2))`:                          twice,
	} {
		p, err := lang.Parse("("+text+`) ? switch() : continue()`, testEnv)
		if err != nil {
			t.Errorf("%s does not parse: %v", text, err)
			continue
		}
		_, err = Verify(p, Limits{})
		var e *ir.Error
		if err == nil != (want == "") || err != nil && (!errors.As(err, &e) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}

// TestTakeDoesSomething: a policy that may take is asked wherever it may.
func TestTakeDoesSomething(t *testing.T) {
	for _, c := range []struct {
		text  string
		ways  string
		queue bool
	}{
		{`take("bucket", 1) ? continue() : throw("x")`, "{}", false},
		{`let ok = take("bucket", 1); continue()`, "{}", false},
		{`let ok = queue.length > 3 and take("bucket", 1); continue()`, "{}", true},
		{`queue.length > 3 and not take("bucket", 1) ? throw("x") : continue()`, "{}", true},
		{`not take("bucket", 1) and queue.length > 3 ? throw("x") : continue()`, "{}", false},
		{`set("b", queue.length > 0 ? take("bucket", 1) : false)`, "{}", false},
		{`task.running > duration("1s") and take("bucket", 1) ? throw("x") : continue()`, "task.running", false},
		{`let ok = task.running > duration("1s") and task.elapsed > duration("2s") and take("bucket", 1); continue()`, "task.running task.elapsed", false},
		{`task.name == "a" and not take("bucket", 1) ? switch() : continue()`, "task.name", false},
		{`take("bucket", 1) and task.running > duration("1s") ? throw("x") : continue()`, "{}", false},
	} {
		v, err := verify(t, c.text, Limits{})
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		got := []string{}
		for _, w := range v.Ways() {
			for _, clock := range w.Clocks {
				got = append(got, clock.Read.String())
			}
			for _, fixed := range w.Fixed {
				got = append(got, fixed.Read.String())
			}
			if len(w.Clocks)+len(w.Fixed) == 0 {
				got = append(got, "{}")
			}
		}
		if ways := strings.Join(got, " "); ways != c.ways {
			t.Errorf("%s: ways %s, want %s", c.text, ways, c.ways)
		}
		if v.NeedsQueue() != c.queue {
			t.Errorf("%s: needs a queue: %v", c.text, v.NeedsQueue())
		}
	}
}

// TestMalformedTakes changes a program that is well-formed.
func TestMalformedTakes(t *testing.T) {
	sample := func() *ir.Program {
		p, err := lang.Parse(`any(1..3, # > queue.length) and take("buckets", task.name, 1) ? switch() : add("k", task.name, duration("1s"))`, testEnv)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if _, err := Verify(sample(), Limits{}); err != nil {
		t.Fatal(err)
	}
	take := func(change func(n *ir.Node)) func(*ir.Program) {
		return func(p *ir.Program) { change(find(p.Root, ir.OpTake)) }
	}
	for _, c := range []struct {
		want   string
		change func(p *ir.Program)
	}{
		{"nothing is taken: site 7", take(func(n *ir.Node) { n.Index = 7 })},
		{"nothing is taken: site -1", take(func(n *ir.Node) { n.Index = -1 })},
		{"nothing is taken", take(func(n *ir.Node) { n.B = literal(stubs.Float, 0) })},
		{"nothing is taken", take(func(n *ir.Node) { n.B = nil })},
		{"an operand is missing", take(func(n *ir.Node) { n.A = nil })},
		{"a int where a float belongs", take(func(n *ir.Node) { n.A = literal(stubs.Int, 1) })},
		{"a int where a bool belongs", take(func(n *ir.Node) { n.Type = stubs.Int })},
		{"too many operands", take(func(n *ir.Node) { n.C = literal(stubs.Bool, 1) })},
		{"does not take from what is read", take(func(n *ir.Node) { n.Index = 1 })},
		{"does not take from what is read", func(p *ir.Program) { p.Sites[0].By = nil }},
		{"does not take from what is read", func(p *ir.Program) { p.Sites[0].By = &ir.KeyOf{{Type: stubs.Name, Constant: true}} }},
		{"does not take from what is read", func(p *ir.Program) { p.Sites[0].Name = "bucket" }},
		{"does not take from what is read", func(p *ir.Program) { p.Sites[0].Effect = stubs.Add }},
		{"has an operand of type int", func(p *ir.Program) { p.Sites[0].Type = stubs.Int }},
		{"takes tokens and has no value", func(p *ir.Program) { p.Sites[1].Effect, p.Sites[1].Type = stubs.Take, stubs.Float }},
		{"has a key that is not a name", func(p *ir.Program) { p.Sites[1].By = &ir.KeyOf{{Type: stubs.Name, Offset: 99}} }},
		{"has a key that is not a name", func(p *ir.Program) { p.Sites[1].By = &ir.KeyOf{{Type: stubs.Name, Offset: p.Reads[0].Offset}} }},
		{"has a key that is not a name", func(p *ir.Program) { p.Reads[2].By = &ir.KeyOf{{Type: stubs.Name, Offset: p.Reads[2].Offset}} }},
		{"has a key that is not a name", func(p *ir.Program) { p.Sites[1].By = &ir.KeyOf{} }},
		{"has a key that is not a name", func(p *ir.Program) { p.Sites[1].By = &ir.KeyOf{{}, p.Sites[1].By[0]} }},
		{"has a key that is not a name", func(p *ir.Program) { p.Sites[1].By = &ir.KeyOf{{Type: stubs.Float, Constant: true}} }},
		{"has a key that is not a name", func(p *ir.Program) { p.Sites[1].By[0].Type = stubs.Int }},
		{"has a key that is not a name", func(p *ir.Program) {
			p.Sites[1] = ir.Site{Effect: stubs.Cancel, Type: stubs.Unit, By: p.Sites[0].By}
		}},
		{"is read as a keyed state or a bucket", func(p *ir.Program) { p.Reads[0].By = &ir.KeyOf{{Type: stubs.Name, Constant: true}} }},
		{"is read as a keyed state or a bucket", func(p *ir.Program) { p.Reads[0].Burst = 5 }},
		{"65 keys and buckets are read", func(p *ir.Program) {
			for range 64 {
				p.Reads = append(p.Reads, ir.Read{Stub: stubs.State, Key: "k", By: p.Sites[0].By, Type: stubs.Int, Offset: p.Words, Words: 1})
				p.Words++
			}
		}},
		{"holds -1 tokens", func(p *ir.Program) { p.Reads[2].Burst = -1 }},
		{"tokens are taken in a predicate", func(p *ir.Program) {
			any, take := find(p.Root, ir.OpAny), find(p.Root, ir.OpTake)
			any.B = copyOf(take)
			*take = *literal(stubs.Bool, 1)
		}},
	} {
		p := sample()
		c.change(p)
		if _, err := Verify(p, Limits{}); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}
