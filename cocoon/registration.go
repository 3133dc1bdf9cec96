package cocoon

import (
	"fmt"
	"maps"
	"time"

	"github.com/cocoon-go/cocoon/notify"
)

// Registration is a registered policy. All methods are safe for concurrent use.
type Registration struct {
	rt    *Runtime
	name  string
	stats policyStats

	now *version // the version in force, or the last one; guarded by rt.regMu
}

// Name returns the policy's name.
func (r *Registration) Name() string { return r.name }

// Update replaces the policy by another version, which may have another trigger, expression, mode,
// match and private state. Its Name must be the same, or empty. On an error the present version
// stays in force. Update switches a policy on again that was switched off after failures. From then
// on the policy is evaluated after all other policies of the same event.
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

// Warnings returns the analyzer's warnings about the version in force.
func (r *Registration) Warnings() []string {
	r.rt.regMu.Lock()
	defer r.rt.regMu.Unlock()
	var texts []string
	for _, w := range r.now.verified.Warnings() {
		texts = append(texts, w.Error.Error())
	}
	return texts
}

// Stats returns the policy's counters.
func (r *Registration) Stats() PolicyStats {
	r.rt.regMu.Lock()
	defer r.rt.regMu.Unlock()
	return r.counted()
}

// counted is called with regMu held.
func (r *Registration) counted() PolicyStats {
	st := r.stats.snapshot()
	if e := r.stats.lastError.Load(); e != nil {
		st.LastError = e.Error()
	}
	st.Off, st.Mode = r.now.off.Load(), r.now.mode()
	if least := r.now.leastInterval(); least != notify.Never {
		st.Interval = time.Duration(least)
	}
	return st
}
