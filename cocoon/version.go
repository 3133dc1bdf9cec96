package cocoon

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/isolate"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// version is one version of a policy: compiled, with an evaluator for each loop that it matches.
// All that can fail has been done before there is one.
type version struct {
	of       *Registration
	spec     Policy
	verified analyzer.Verified
	module   *isolate.Module
	queued   bool                 // it can only continue while no task waits or is suspended
	ways     []analyzer.Way       // of a time policy: in which it can do something but continue
	states   map[string]*stateVar // those that it refers to, its private ones among them
	bounds   []*bound             // one a loop that it matches; guarded by regMu
	failures atomic.Int64         // evaluations in a row that erred
	off      atomic.Bool          // cancelled, or switched off after failures: not evaluated from now on

	speaksOf      sync.Once        // see lookAtNames
	names, labels []policy.Mention // that it speaks of
	own           Mode             // as registered, or set since; guarded by regMu
	ended         atomic.Bool      // in observe mode: it would have cancelled itself
}

// scope is what policies may refer to, beside functions: what is registered, or is about to be.
type scope struct {
	states  map[string]*stateVar
	tenants *tenantTable
}

// scope returns what is registered. Called with regMu held.
func (rt *Runtime) scope() scope { return scope{*rt.states.Load(), rt.tenants.Load()} }

// ready takes a policy all the way to a version of r. Called with regMu held.
func (r *Registration) ready(p Policy, in scope) (*version, error) {
	private, err := newStates(p.State)
	if err != nil {
		return nil, fmt.Errorf("cocoon: policy %q: %w", p.Name, err)
	}
	program, err := p.Parse(typesOf(in.states), r.rt.callable())
	if err != nil {
		return nil, fmt.Errorf("cocoon: %w", err)
	}
	v := &version{of: r, spec: p, own: p.Mode, states: statesOf(program, private, in.states)}
	if stub := program.AboutTenants(); stub != "" && in.tenants == nil { // it would see nothing but zeros
		return nil, fmt.Errorf("cocoon: policy %q: it reads %s, and %w", p.Name, stub, errNoTenants)
	}
	if v.verified, err = analyzer.Verify(program, analyzer.Limits{Interval: p.On.Interval}); err != nil {
		return nil, fmt.Errorf("cocoon: policy %q: %w", p.Name, err)
	}
	v.queued = v.verified.NeedsQueue()
	if p.On.Interval > 0 {
		v.ways = v.verified.Ways()
	}
	if v.module, err = r.rt.store.Compile(v.verified); err != nil {
		return nil, fmt.Errorf("cocoon: policy %q: %w", p.Name, err)
	}
	for _, l := range *r.rt.loops.Load() {
		if err := v.prepare(l); err != nil {
			v.discard()
			return nil, fmt.Errorf("cocoon: policy %q: %w", p.Name, err)
		}
	}
	return v, nil
}

// typesOf returns the types of the registered states. A policy's private ones are not among them:
// Parse adds those itself, and refuses them where a registered one has the name.
func typesOf(states map[string]*stateVar) map[string]stubs.Type {
	types := make(map[string]stubs.Type, len(states))
	for name, v := range states {
		types[name] = v.typ
	}
	return types
}

// callable returns the names of functions that policies may call. Called with regMu held.
func (rt *Runtime) callable() map[string]bool {
	names := make(map[string]bool, len(rt.funcs))
	for name := range rt.funcs {
		names[name] = true
	}
	return names
}

// statesOf returns the private states, and those of the registered ones that the program refers to.
func statesOf(p *policy.Program, private, registered map[string]*stateVar) map[string]*stateVar {
	states := maps.Clone(private)
	refer := func(name string) {
		if states[name] == nil {
			states[name] = registered[name]
		}
	}
	for _, r := range p.Reads {
		if r.OfState() {
			refer(r.Key)
		}
	}
	for _, s := range p.Sites {
		if s.Effect.Writes() {
			refer(s.Name)
		}
	}
	return states
}

// prepare makes the version ready for a loop, if it matches.
func (v *version) prepare(l *Loop) error {
	if m := v.spec.Match.Loops; len(m) > 0 && !slices.Contains(m, l.cfg.Name) {
		return nil
	}
	eval, err := v.module.NewEvaluator()
	if err != nil {
		return err
	}
	v.bounds = append(v.bounds, newBound(v, l, eval))
	return nil
}

// on returns what the version is on the loop, or nil.
func (v *version) on(l *Loop) *bound {
	for _, b := range v.bounds {
		if b.loop == l {
			return b
		}
	}
	return nil
}

// bind puts the version in force on a new loop. Called with regMu held, before the loop is seen by
// others.
func (v *version) bind(l *Loop) error {
	if v.off.Load() {
		return nil
	}
	if err := v.prepare(l); err != nil {
		return err
	}
	l.exchange(nil, []*version{v})
	return nil
}

// unbindFrom undoes bind, if it was done, for a loop that did not come to be.
func (v *version) unbindFrom(l *Loop) {
	if b := v.on(l); b != nil {
		b.close()
		v.bounds = slices.DeleteFunc(v.bounds, func(x *bound) bool { return x == b })
	}
}

// cancel takes the policy out of force, unless another version is in force by now.
func (v *version) cancel() {
	v.of.rt.regMu.Lock()
	defer v.of.rt.regMu.Unlock()
	v.withdraw()
}

// withdraw is called with regMu held.
func (v *version) withdraw() {
	if rt := v.of.rt; rt.policies[v.of.name] == v.of && v.of.now == v {
		rt.exchange([]*version{v}, nil)
	}
}

// discard frees the module, when no loop evaluates it any more.
func (v *version) discard() {
	for _, b := range v.bounds {
		b.close()
	}
	v.bounds = nil
	v.module.Close()
}

// wantsCosts reports whether the policy is told what tasks are expected to cost.
func (v *version) wantsCosts() bool {
	return slices.ContainsFunc(v.verified.Program().Reads, func(r policy.Read) bool {
		return r.Stub == stubs.ArrivingCost || r.Stub == stubs.QueueCost
	})
}

// leastInterval returns the policy's least interval on a loop, in ns; notify.Never when it is no
// time policy. Called with regMu held.
func (v *version) leastInterval() int64 {
	least := int64(notify.Never)
	for _, b := range v.bounds {
		if i := b.interval.Load(); i > 0 {
			least = min(least, i)
		}
	}
	return least
}
