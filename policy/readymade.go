package policy

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/stubs"
)

// The ready-made policies are plain Specs: the caller can read Spec.Expr, and may change Match or
// Mode before registering them.

// interval returns the evaluation interval of a policy that acts after a span of time and also
// depends on other conditions: a hundredth of the span, but at least 50 µs and at most 10 ms. The
// end of the span itself needs no interval, see "horizon" in docs/policy.md.
func interval(span time.Duration) time.Duration {
	return min(max(span/100, 50*time.Microsecond), 10*time.Millisecond)
}

// quote writes a name as a string constant of the language.
func quote(name string) string { return strconv.Quote(name) }

// length writes a duration as a constant of the language.
func length(d time.Duration) string { return fmt.Sprintf("duration(%q)", d.String()) }

// specName makes a policy's name from a prefix and any text; different texts have different names.
func specName(prefix, text string) string {
	safe := strings.Map(func(r rune) rune {
		if validateName(string(r)) != nil {
			return '-'
		}
		return r
	}, text)
	if keep := maxSpecName - len(prefix) - 18; len(safe) > keep || safe != text {
		hash := fnv.New64a()
		hash.Write([]byte(text))
		safe = fmt.Sprintf("%s-%x", safe[:min(len(safe), keep)], hash.Sum64())
	}
	return prefix + "/" + safe
}

// DefaultPreemption lets a waiting safe task preempt: while one waits, a running task of kind
// preemptible or both is switched out at its next safe point. If on has events, DefaultPreemption
// adds enqueue and start: a safe task may arrive while a task runs, and a task may start while safe
// tasks wait.
func DefaultPreemption(on Trigger) Spec {
	if on.Interval == 0 {
		on.Events |= stubs.Enqueue | stubs.Start
	}
	return Spec{
		Name: "default-preemption",
		On:   on,
		Expr: `queue.safe > 0 and task.kind in ["preemptible", "both"] ? switch() : continue()`,
	}
}

// minQuantum is the shortest slice not dominated by the cost of switching.
const minQuantum = 100 * time.Microsecond

// RoundRobin makes the tasks of kind both take turns: a task that has run for quantum since it last
// got its slot is switched out when a safe or a suspended task waits. The policy is evaluated when
// the quantum is over, and then every hundredth of it, at least 50 µs and at most 10 ms apart. A
// quantum under 100 µs is an error.
func RoundRobin(quantum time.Duration) (Spec, error) {
	if quantum < minQuantum {
		return Spec{}, fmt.Errorf("round robin: the quantum %v is shorter than %v", quantum, minQuantum)
	}
	return Spec{
		Name: "round-robin",
		On:   Every(interval(quantum)),
		Expr: fmt.Sprintf(`task.kind == "both" and task.slice >= %s and (queue.safe > 0 or queue.suspended > 0) ? switch() : continue()`, length(quantum)),
	}, nil
}

// silence is the interval of a policy that waits for an event: so long that its ticks cost nothing.
const silence = time.Second

// AdaptiveQuantum makes the tasks of kind both take turns, as RoundRobin does. Slices are short
// while a safe task waits for a slot, long while only suspended tasks wait, and unlimited and
// without ticks while no task waits. So short tasks wait briefly, and long tasks among themselves
// are rarely switched. The policy is evaluated four times in a short quantum and ten times in a
// long one, because the evaluations are most of its cost (bench: quantum). Its state is its
// interval, which each loop has separately. A short quantum under 100 µs, or a long one no longer
// than it, is an error.
func AdaptiveQuantum(short, long time.Duration) (Spec, error) {
	switch {
	case short < minQuantum:
		return Spec{}, fmt.Errorf("adaptive quantum: the quantum %v is shorter than %v", short, minQuantum)
	case long <= short || long >= silence:
		return Spec{}, fmt.Errorf("adaptive quantum: the long quantum %v is not between %v and %v", long, short, silence)
	}
	return Spec{
		Name: "round-robin",
		On:   Trigger{Interval: silence, Events: stubs.Enqueue},
		Expr: fmt.Sprintf(`let hurry = queue.safe > 0;
if hurry { interval(%s) } else if queue.suspended > 0 { interval(%s) } else { interval(%s) };
task.kind == "both" and (hurry and task.slice >= %s or queue.suspended > 0 and task.slice >= %s) ? switch() : continue()`,
			length(max(short/4, 50*time.Microsecond)), length(max(long/10, 50*time.Microsecond)), length(silence), length(short), length(long)),
	}, nil
}

// CallerGone throws into tasks whose context has ended, because their callers no longer wait for
// the result. It is evaluated every millisecond.
func CallerGone() Spec {
	return Spec{
		Name: "caller-gone",
		On:   Every(time.Millisecond),
		Expr: `task.cancelled ? throw("the caller is gone") : continue()`,
	}
}
