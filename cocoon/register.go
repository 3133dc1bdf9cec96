package cocoon

import (
	"fmt"
	"maps"

	"github.com/cocoon-go/cocoon/policy"
)

// RegisterPolicy checks, verifies and compiles the policy, and puts it in force on all loops that
// it matches. On an error nothing is registered; the error says where and why (print it with %+v
// for the full account). It takes a fraction of a millisecond, during which tasks run on, however
// many policies are in force.
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
	rt.replace(nil, []*version{v})
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

// Update replaces the policy by another version, which may have another trigger, expression, mode,
// match and private state. Its Name must be the same, or empty. On an error the present version
// stays in force. Update switches a policy on again that was switched off after failures. The
// policy keeps its place in the order in which policies are evaluated.
func (r *Registration) Update(p Policy) error {
	r.rt.regMu.Lock()
	defer r.rt.regMu.Unlock()
	if p.Name == "" {
		p.Name = r.name
	}
	if p.Name != r.name {
		return fmt.Errorf("cocoon: policy %q: update to a policy named %q; cancel it and register the other", r.name, p.Name)
	}
	if r.rt.policies[r.name] != r {
		return fmt.Errorf("cocoon: policy %q: %w", r.name, ErrGone)
	}
	v, err := r.ready(p, r.rt.scope())
	if err != nil {
		return err
	}
	r.rt.replace([]*version{r.now}, []*version{v})
	return nil
}

// Cancel withdraws the policy. When it returns, no evaluation of the policy is in progress and none
// will begin, and its name is free. A second Cancel does nothing.
func (r *Registration) Cancel() {
	r.rt.regMu.Lock()
	defer r.rt.regMu.Unlock()
	r.now.withdraw()
}

// Policy returns the version in force as it was registered, but with its current mode.
func (r *Registration) Policy() Policy {
	r.rt.regMu.Lock()
	defer r.rt.regMu.Unlock()
	p := r.now.spec
	p.Mode = r.now.own
	p.State = maps.Clone(p.State)
	return p
}

// Stats returns the policy's counters.
func (r *Registration) Stats() PolicyStats {
	r.rt.regMu.Lock()
	defer r.rt.regMu.Unlock()
	return r.counted()
}
