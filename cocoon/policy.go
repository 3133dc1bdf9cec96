package cocoon

import (
	"fmt"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Policy is a policy as its author writes it; docs/policy.md specifies its language.
type Policy = policy.Spec

// Trigger says when a policy is evaluated: Every, OnEnqueue and the other events, OnNotify;
// policy.On joins several events.
type Trigger = policy.Trigger

// Match limits a policy to loops, task names and kinds.
type Match = policy.Match

// How states are declared, in Policy.State and, but for PerLoop, for Runtime.RegisterState:
// PerLoop, a private state of which each loop has its own; Keyed, one with a value for each key;
// Bucket, a token bucket.
type (
	PerLoop = policy.PerLoop
	Keyed   = policy.Keyed
	Bucket  = policy.Bucket
)

// TimeLimit is a ready-made policy: a time limit on a section, or on tasks with a given name.
type TimeLimit = policy.TimeLimit

// PolicyChange is one change that loading a policy file would make, see Runtime.CheckPolicyFile.
type PolicyChange = policy.Change

// Mode says what the runtime does with the verdicts and effects of policies.
type Mode = policy.Mode

// Modes of a policy, and of all policies of a runtime.
const (
	Enforce = policy.Enforce // carry out verdicts and effects
	Observe = policy.Observe // a dry run: only count and log them
	Off     = policy.Off     // do not evaluate them
)

// Triggers for the events of a task.
var (
	OnEnqueue = policy.On(stubs.Enqueue)
	OnStart   = policy.On(stubs.Start)
	OnBlock   = policy.On(stubs.Block)
	OnUnblock = policy.On(stubs.Unblock)
	OnExit    = policy.On(stubs.Exit)  // of a task that had a slot
	OnLeave   = policy.On(stubs.Leave) // of a task that waited, and ended without a slot
)

// Every is the trigger of a time policy. It is evaluated every interval (5 µs to 24 h) while tasks
// run and the policy can have an effect on them (its horizon, see docs/policy.md).
func Every(interval time.Duration) Trigger { return policy.Every(interval) }

// OnNotify is the trigger of a policy evaluated when the application calls Notify with that name.
func OnNotify(name string) Trigger { return policy.OnCustom(name) }

// RegisterPolicy checks, verifies and compiles the policy, and puts it in force on all loops that
// it matches. On an error nothing is registered; the error says where and why (print it with %+v
// for the full account). It takes about a millisecond, during which tasks run on.
func (rt *Runtime) RegisterPolicy(p Policy) (*Registration, error) {
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	if err := p.Validate(); err != nil { // from here on its name is safe to print
		return nil, fmt.Errorf("cocoon: %w", err)
	}
	if rt.closing {
		return nil, fmt.Errorf("cocoon: policy %q: %w", p.Name, ErrShutdown)
	}
	if rt.policies[p.Name] != nil {
		return nil, fmt.Errorf("cocoon: policy %q: %w; use Update on its registration, or another name", p.Name, ErrDuplicate)
	}
	r := &Registration{rt: rt, name: p.Name}
	v, err := r.ready(p, rt.scope())
	if err != nil {
		return nil, err
	}
	rt.exchange(nil, []*version{v})
	return r, nil
}

// RegisterTimeLimit registers a time limit on a section, or on tasks with a given name: it throws
// into a section or task that runs longer.
func (rt *Runtime) RegisterTimeLimit(t TimeLimit) (*Registration, error) {
	p, err := t.Spec()
	if err != nil {
		return nil, err
	}
	return rt.RegisterPolicy(p)
}

// RegisterDefaultPreemption registers the policy by which a waiting safe task preempts a
// preemptible one: with OnEnqueue when it arrives, with Every(d) within d.
func (rt *Runtime) RegisterDefaultPreemption(on Trigger) (*Registration, error) {
	return rt.RegisterPolicy(policy.DefaultPreemption(on))
}
