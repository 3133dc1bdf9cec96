package cocoon

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/isolate"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// version is one version of a policy: compiled, with an evaluator for each matching loop. All steps
// that can fail precede its creation.
type version struct {
	of       *Registration
	spec     Policy
	verified analyzer.Verified
	module   *isolate.Module
	queued   bool                 // it can only continue while no task waits or is suspended
	ways     []analyzer.Way       // for a time policy: its ways to a result other than continue
	states   map[string]*stateVar // the states in the expression, including private ones
	bounds   []*bound             // one for each matching loop; guarded by regMu
	failures atomic.Int64         // consecutive evaluations that failed
	off      atomic.Bool          // cancelled, or switched off after failures: no longer evaluated
	from     atomic.Pointer[document]

	speaksOf      sync.Once        // see lookAtNames
	names, labels []policy.Mention // in the program
	own           Mode             // as registered, or set since; guarded by regMu
	ended         atomic.Bool      // in observe mode: it would have cancelled itself
}

// scope holds the names that policies may refer to, except functions: registered ones, and ones
// about to be registered.
type scope struct {
	states  map[string]*stateVar
	tenants *tenantTable
}

// scope returns the registered names. Called with regMu held.
func (rt *Runtime) scope() scope { return scope{*rt.states.Load(), rt.tenants.Load()} }

// ready checks, verifies and compiles a policy as a version of r. Called with regMu held.
func (r *Registration) ready(p Policy, in scope) (*version, error) {
	program, err := p.Parse(declarationsOf(in.states), r.rt.callable())
	if err != nil {
		return nil, fmt.Errorf("cocoon: %w", err)
	}
	private, err := policy.StatesOf(p.State)
	if err != nil {
		return nil, fmt.Errorf("cocoon: policy %q: %w", p.Name, err)
	}
	v := &version{of: r, spec: p, own: p.Mode, states: statesOf(program, private, in.states)}
	if stub := program.AboutTenants(); stub != "" && in.tenants == nil { // it would read only zeros
		return nil, fmt.Errorf("cocoon: policy %q: it reads %s, and %w", p.Name, stub, errNoTenants)
	}
	if v.verified, err = analyzer.Verify(program, analyzer.LimitsOf(p)); err != nil {
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

// declarationsOf returns the declarations of the registered states. A policy's private states are
// not included: Parse adds them, and refuses a private state with the name of a registered one.
func declarationsOf(states map[string]*stateVar) map[string]policy.State {
	declared := make(map[string]policy.State, len(states))
	for name, v := range states {
		declared[name] = v.State
	}
	return declared
}

// callable returns the names of the functions that policies may call. Called with regMu held.
func (rt *Runtime) callable() map[string]bool {
	names := make(map[string]bool, len(rt.funcs))
	for name := range rt.funcs {
		names[name] = true
	}
	return names
}

// statesOf returns the private states, and the registered ones that the program refers to.
func statesOf(p *policy.Program, private map[string]policy.State, registered map[string]*stateVar) map[string]*stateVar {
	states := make(map[string]*stateVar, len(private))
	for name, s := range private {
		if s.PerLoop {
			states[name] = &stateVar{State: s} // each loop makes its own
		} else {
			states[name] = newState(s)
		}
	}
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

// prepare prepares the version for a loop, if the policy matches the loop.
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

// on returns the version's bound on the loop, or nil.
func (v *version) on(l *Loop) *bound {
	for _, b := range v.bounds {
		if b.loop == l {
			return b
		}
	}
	return nil
}

// bind puts the version in force on a new loop. Called with regMu held, before other code sees the
// loop.
func (v *version) bind(l *Loop) error {
	if v.off.Load() {
		return nil
	}
	if err := v.prepare(l); err != nil {
		return err
	}
	l.replace(nil, []*version{v})
	return nil
}

// unbindFrom undoes bind, if it was done, for a loop that was not created after all.
func (v *version) unbindFrom(l *Loop) {
	if b := v.on(l); b != nil {
		b.close()
		v.bounds = slices.DeleteFunc(v.bounds, func(x *bound) bool { return x == b })
	}
}

// cancel takes the policy out of force, unless another version is already in force.
func (v *version) cancel() {
	v.of.rt.regMu.Lock()
	defer v.of.rt.regMu.Unlock()
	v.withdraw()
}

// withdraw is called with regMu held.
func (v *version) withdraw() {
	if rt := v.of.rt; rt.policies[v.of.name] == v.of && v.of.now == v {
		rt.replace([]*version{v}, nil)
	}
}

// discard frees the module when no loop evaluates it any more.
func (v *version) discard() {
	for _, b := range v.bounds {
		b.close()
	}
	v.bounds = nil
	v.module.Close()
}

// wantsCosts reports whether the policy reads the expected costs of tasks.
func (v *version) wantsCosts() bool {
	return slices.ContainsFunc(v.verified.Program().Reads, func(r policy.Read) bool {
		return r.Stub == stubs.ArrivingCost || r.Stub == stubs.QueueCost
	})
}

// leastInterval returns the policy's shortest interval on any loop, in ns, or notify.Never if it is
// not a time policy. Called with regMu held.
func (v *version) leastInterval() int64 {
	least := int64(notify.Never)
	for _, b := range v.bounds {
		if i := b.interval.Load(); i > 0 {
			least = min(least, i)
		}
	}
	return least
}
