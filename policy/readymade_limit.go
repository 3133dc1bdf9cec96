package policy

import (
	"errors"
	"fmt"
	"time"

	"github.com/cocoon-go/cocoon/internal/lang"
)

// TimeLimit throws into a task when a section with the name Func, or the task itself, has run
// longer than Limit. Running time counts; waiting does not.
type TimeLimit struct {
	Func  string        // the name of a section or a task, or a pattern of names, see Pattern
	Limit time.Duration // 5 µs or more
	// the time between evaluations after Limit; 0: Limit/100, but 50 µs to 10 ms
	Interval time.Duration
	Reason   string // the reason of the throw; "": "FUNC ran longer than LIMIT"
	Mode     Mode   // Enforce by default

	// Force lets the throw unwind code of cocoon build that holds locks, if deferred calls release
	// all of them. What the locks guard may then be left half-written, and only the author of the
	// program can know that this does no harm. docs/safepoints.md says which locks a throw passes
	// without it, and after which time.
	Force bool
}

// Spec returns the policy, named "time-limit/FUNC". An empty or unprintable name, and a limit or an
// interval out of bounds, are errors.
func (l TimeLimit) Spec() (Spec, error) {
	if l.Interval == 0 {
		l.Interval = interval(l.Limit)
	}
	if l.Reason == "" {
		name := l.Func
		if len(name) > lang.MaxReason/2 {
			name = "it"
		}
		l.Reason = fmt.Sprintf("%s ran longer than %v", name, l.Limit)
	}
	if err := l.validate(); err != nil {
		return Spec{}, fmt.Errorf("time limit: %w", err)
	}
	limit := length(l.Limit)
	key, named := fmt.Sprintf("pattern(%s)", quote(l.Func)), fmt.Sprintf("in pattern(%s)", quote(l.Func))
	p, _ := lang.ParsePattern(l.Func)
	if name, one := p.Name(); one {
		key, named = quote(name), "== "+quote(name)
	}
	return Spec{
		Name: specName("time-limit", l.Func),
		On:   Every(l.Interval),
		Mode: l.Mode, Force: l.Force,
		Expr: fmt.Sprintf(`task.sections[%s] > %s or (task.name %s and task.running > %s) ? throw(%s) : continue()`,
			key, limit, named, limit, quote(l.Reason)),
	}, nil
}

func (l TimeLimit) validate() error {
	if err := lang.CheckName("the name of the section or task", l.Func); err != nil {
		return err
	}
	if _, err := lang.ParsePattern(l.Func); err != nil {
		return err
	}
	if l.Limit < lang.MinInterval {
		return fmt.Errorf("the limit of %q is %v; want %v or more, which the runtime can tell apart", l.Func, l.Limit, lang.MinInterval)
	}
	if err := Every(l.Interval).validate(); err != nil {
		return err
	}
	if len(l.Reason) > lang.MaxReason {
		return fmt.Errorf("the reason has %d bytes, and %d are allowed", len(l.Reason), lang.MaxReason)
	}
	return lang.CheckName("the reason", l.Reason)
}

// OverloadAlarm keeps a bool state true while a loop is overloaded, and calls a function when the
// state becomes true. A loop is overloaded while more than Queue tasks wait, or a task has waited
// longer than Wait. The loops that the policy matches share the state: with several loops, set
// Spec.Match.Loops and register one alarm for each.
type OverloadAlarm struct {
	Name  string        // the name of the policy; "": "overload-alarm/STATE"
	Queue int           // the greatest length of the queue; 0: no bound
	Wait  time.Duration // the longest wait; 0: no bound
	State string        // the name of a registered bool state; "": a private state
	// a function registered as safe, called when the state becomes true; "": none
	Func     string
	Interval time.Duration // the time between evaluations; 0: 1 ms
}

// Spec returns the policy. It is an error to set no bound or a negative one, or to use an invalid
// name.
func (a OverloadAlarm) Spec() (Spec, error) {
	if err := a.validate(); err != nil {
		return Spec{}, fmt.Errorf("overload alarm: %w", err)
	}
	s := Spec{Name: a.Name, On: Every(a.Interval)}
	if a.Interval == 0 {
		s.On = Every(time.Millisecond)
	}
	if a.State == "" {
		a.State = "overloaded"
		s.State = map[string]any{a.State: false}
	}
	if s.Name == "" {
		s.Name = specName("overload-alarm", a.State)
	}
	raise := fmt.Sprintf(`set(%q, true)`, a.State)
	if a.Func != "" {
		raise = fmt.Sprintf(`(set(%q, true); call(%s))`, a.State, quote(a.Func))
	}
	s.Expr = fmt.Sprintf(`let over = %s; over and not state.%s ? %s : not over and state.%s ? set(%q, false) : continue()`,
		a.condition(), a.State, raise, a.State, a.State)
	return s, s.Validate()
}

// condition returns the part of the expression that defines overload.
func (a OverloadAlarm) condition() string {
	queue, wait := fmt.Sprintf("queue.length > %d", a.Queue), "queue.oldest > "+length(a.Wait)
	switch {
	case a.Wait == 0:
		return queue
	case a.Queue == 0:
		return wait
	}
	return queue + " or " + wait
}

func (a OverloadAlarm) validate() error {
	switch {
	case a.Queue < 0:
		return fmt.Errorf("the queue length %d is negative", a.Queue)
	case a.Wait < 0:
		return fmt.Errorf("the wait %v is negative", a.Wait)
	case a.Queue == 0 && a.Wait == 0:
		return errors.New("no bound is set; set Queue, Wait or both")
	case a.State != "" && !isIdentifier(a.State):
		return fmt.Errorf("state %q: %s", a.State, namesOfStates)
	case a.State == "" && a.Func == "":
		return errors.New("the alarm would have no effect; set State, Func or both")
	case a.Func != "":
		return lang.CheckName("the function's name", a.Func)
	}
	return nil
}
