// Package policy declares policies. docs/policy.md defines their language. A program that registers
// policies needs only package cocoon; this package adds ready-made policies. Package document reads
// YAML documents with policies.
//
// # Policies
//
// A [Spec] is a policy as its author writes it. [Every], [On] and [OnCustom] say when it is
// evaluated. [Keyed], [Bucket] and [PerLoop] declare states.
//
// # Ready-made policies
//
// [DefaultPreemption], [RoundRobin] and [AdaptiveQuantum] preempt tasks. [FirstInFirstOut],
// [StrictPriority], [EarliestDeadline], [ShortestRemaining] and [FairShare] order the queue.
// [Background] sends tasks to the background. [CallerGone] stops tasks whose caller has gone. A
// [TimeLimit] bounds the running time of a task or a section, and an [OverloadAlarm] reports
// overload.
package policy

import (
	"fmt"
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

// Spec is a policy as its author writes it.
type Spec struct {
	Name  string         // unique in the runtime; letters, digits, '-', '_', '.', '/'
	On    Trigger        // when it is evaluated
	Expr  string         // the expression, see docs/policy.md
	Mode  Mode           // Enforce by default
	Match Match          // limits the policy; the zero Match is everything
	State map[string]any // private state, state.NAME; values as for StateOf
	Zone  string         // of clock.*: an IANA name such as "Europe/Berlin"; UTC by default
	Force bool           // see TimeLimit.Force
}

// Trigger is the notifications on which a policy is evaluated: an interval, a set of events, or
// both. Make one with Every, On or OnCustom.
type Trigger struct {
	Interval time.Duration // > 0: a time policy
	Events   stubs.Event   // of an event policy; may be combined with Interval
	Custom   string        // with stubs.Custom: the only event name that counts, or "" for all
}

// Every makes the trigger of a time policy, evaluated every interval (5 µs to 24 h) while it may
// act on a running task.
func Every(interval time.Duration) Trigger { return Trigger{Interval: interval} }

// On makes an event policy's trigger.
func On(events stubs.Event) Trigger { return Trigger{Events: events} }

// OnCustom makes the trigger of a policy evaluated when the application notifies the event of that
// name.
func OnCustom(name string) Trigger { return Trigger{Events: stubs.Custom, Custom: name} }

// Set returns the notifications of the trigger, stubs.Tick for the interval.
func (t Trigger) Set() stubs.Event {
	if t.Interval > 0 {
		return stubs.Tick | t.Events
	}
	return t.Events
}

// Mode says whether verdicts are carried out. If several modes apply to a policy, the greatest
// counts.
type Mode uint8

const (
	Enforce Mode = iota // carry out verdicts and effects
	Observe             // a dry run: count and log what the policy would have done, and do nothing
	Off                 // do not evaluate it
)

// DefaultMaxFailures is how many evaluations of a policy may err in a row before it is switched
// off, unless the server's code sets another number.
const DefaultMaxFailures = 8

var modeNames = [...]string{"enforce", "observe", "off"}

func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// ModeNamed returns the mode of that name.
func ModeNamed(name string) (m Mode, ok bool) {
	i := slices.Index(modeNames[:], name)
	return Mode(max(i, 0)), i >= 0
}

// Validate reports whether m is a defined mode.
func (m Mode) Validate() error {
	if m > Off {
		return fmt.Errorf("unknown mode %d; want Enforce, Observe or Off", m)
	}
	return nil
}

// Match limits a policy to loops, task names and kinds. An empty list matches everything; lists are
// joined by "and".
type Match struct {
	Loops  []string
	Tasks  []string // names, and patterns of names (see Pattern)
	Except []string // exceptions from Tasks; the most specific entry of both counts
	Kinds  []string // "atomic", "preemptible", "safe", "both"
}

// Selector returns the selector of Tasks and Except; nil when there is no pattern and no exception,
// so that names can be compared.
func (m Match) Selector() *lang.Selector { return lang.NewSelector(m.Tasks, m.Except) }
