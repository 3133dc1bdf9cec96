package analyzer

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/stubs"
)

// A policy that needs a queue to do something is known, if that can be seen from its conditions.
func TestNeedsQueue(t *testing.T) {
	for text, want := range map[string]bool{
		`queue.length > 100 ? throw("full") : continue()`:                                                                  true,
		`queue.length >= 100 or queue.oldest > duration("50ms") ? throw("late") : continue()`:                              true,
		`arriving.name == "GET /report" and queue.oldest > duration("2s") ? throw("too many") : continue()`:                true,
		`let late = queue.oldest / 2 > duration("5ms"); late and arriving.priority < 3 ? throw("late") : continue()`:       true,
		`queue.suspended + queue.safe > 3 ? (set("i", queue.length); throw("full")) : continue()`:                          true,
		`queue.oldest > arriving.deadline ? throw("too late") : continue()`:                                                false, // a deadline may be over
		`arriving.deadline > duration("0s") and queue.oldest > arriving.deadline ? throw("too late") : continue()`:         true,
		`queue.length > 100 ? throw("full") : rank(arriving.priority)`:                                                     false, // which it keeps when it waits later
		`queue.length > 100 ? set("b", true) : set("b", false)`:                                                            false,
		`queue.length == 0 ? throw("idle") : continue()`:                                                                   false,
		`queue.length > state.i ? throw("full") : continue()`:                                                              false, // it may be negative
		`loop.utilization > 0.9 ? throw("busy") : continue()`:                                                              false,
		`queue.length > 100 or loop.utilization > 0.9 ? throw("busy") : continue()`:                                        false,
		`arriving.priority < 0 ? throw("never") : continue()`:                                                              false,
		`queue.cost > duration("1s") or class.queued > 3 ? throw("full") : continue()`:                                     true,
		`queue.wait(0.9) > duration("1s") ? throw("slow") : continue()`:                                                    false, // it was long
		`queue.length > 100 ? switch() : continue()`:                                                                       true,
		`queue.length > 3 and count(1..3, # < queue.length) > 1 ? throw("full") : continue()`:                              true,
		`queue.length > 9 and arriving.labels["tenant"] in ["a", "b"] and loop.busy == loop.slots ? cancel() : continue()`: true,
		`float(queue.length) / float(loop.slots) > 1.5 ? throw("a queue of more than one and a half a slot") : continue()`: true,
	} {
		p, err := lang.Parse(text, lang.Env{On: stubs.Enqueue, States: testEnv.States})
		if err != nil {
			t.Fatal(err)
		}
		v, err := Verify(p, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got := v.NeedsQueue(); got != want {
			t.Errorf("%s\nneeds a queue: %v, want %v", text, got, want)
		}
	}
	if (Verified{}).NeedsQueue() {
		t.Error("what was not verified needs a queue")
	}
}

// What is said of random programs is true: where all that is read of the queue is 0, they continue.
func TestNeedsQueueSound(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	needs, programs := 0, longtest.Count(20_000, 300)
	for range programs {
		data := make([]byte, 300)
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		r := &random{data: data}
		p := randomProgram(r)
		for i := range p.Reads { // more of them about the queue
			if read := &p.Reads[i]; read.Type == stubs.Int && read.Taken == ir.TakenWhole && rng.IntN(2) == 0 {
				read.Stub = queued[rng.IntN(3)]
			}
		}
		v, err := Verify(p, Limits{Cost: 1 << 30})
		if err != nil || !v.NeedsQueue() {
			continue
		}
		needs++
		for range 8 {
			s := r.snapshot()
			for _, read := range p.Reads {
				if slices.Contains(queued, read.Stub) {
					s[read.Offset] = 0
				}
			}
			if out, _, err := ir.Interpret(p, s); err == nil && (out.Decision != stubs.Continue || out.Fired != 0) {
				t.Fatalf("it acts without a queue: %+v\n%s", out, show(p.Root))
			}
		}
	}
	t.Logf("%d programs need a queue", needs)
	if needs < programs*3/200 {
		t.Errorf("%d programs need a queue; the test sees too few", needs)
	}
}
