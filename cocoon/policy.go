package cocoon

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/isolate"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Policy is a policy as its author writes it; docs/policy.md specifies its language.
type Policy = policy.Spec

// Trigger says when a policy is evaluated: Every, OnEnqueue and its like, OnNotify; policy.On joins several events.
type Trigger = policy.Trigger

// Match limits a policy to loops, task names and kinds.
type Match = policy.Match

// TimeLimit is a ready-made policy: a time limit on a section, or on the tasks of a name.
type TimeLimit = policy.TimeLimit

// Modes of a policy.
const (
	Enforce = policy.Enforce // carry out verdicts and effects
	Observe = policy.Observe // only count and log them
)

// Triggers of the events of a task.
var (
	OnEnqueue = policy.On(stubs.Enqueue)
	OnStart   = policy.On(stubs.Start)
	OnBlock   = policy.On(stubs.Block)
	OnUnblock = policy.On(stubs.Unblock)
	OnExit    = policy.On(stubs.Exit)
)

// Every is the trigger of a time policy, evaluated every interval (5 µs to 24 h) while tasks run.
func Every(interval time.Duration) Trigger { return policy.Every(interval) }

// OnNotify is the trigger of a policy evaluated when the application calls Notify with that name.
func OnNotify(name string) Trigger { return policy.OnCustom(name) }

// Registration is a policy that is registered. All methods are safe for concurrent use.
type Registration struct {
	rt    *Runtime
	name  string
	stats policyStats

	off atomic.Bool // cancelled, or switched off after failures: not evaluated from now on

	// Guarded by rt.regMu.
	now    *compiled
	bounds []*bound // one a loop that it matches
}

// compiled is one version of a policy.
type compiled struct {
	spec     Policy
	verified analyzer.Verified
	module   *isolate.Module
	private  map[string]*stateVar
}

// RegisterPolicy checks, verifies and compiles the policy, and puts it in force on all loops that it matches. On an error
// nothing is registered; the error says where and why (print it with %+v for the whole story). It takes about a
// millisecond, and tasks run on meanwhile.
func (rt *Runtime) RegisterPolicy(p Policy) (*Registration, error) {
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	return rt.register(p)
}

// register is called with regMu held.
func (rt *Runtime) register(p Policy) (*Registration, error) {
	if err := p.Validate(); err != nil { // its name is fit to be printed from here on
		return nil, fmt.Errorf("cocoon: %w", err)
	}
	if rt.closing {
		return nil, fmt.Errorf("cocoon: policy %q: %w", p.Name, ErrShutdown)
	}
	if rt.policies[p.Name] != nil {
		return nil, fmt.Errorf("cocoon: policy %q: %w; use Update on its registration, or another name", p.Name, ErrDuplicate)
	}
	c, err := rt.compile(p)
	if err != nil {
		return nil, err
	}
	r := &Registration{rt: rt, name: p.Name}
	if err := r.install(c); err != nil {
		return nil, err
	}
	rt.policies[p.Name] = r
	rt.repace()
	return r, nil
}

// compile takes a policy all the way to a module. Called with regMu held.
func (rt *Runtime) compile(p Policy) (*compiled, error) {
	private, err := newStates(p.State)
	if err != nil {
		return nil, fmt.Errorf("cocoon: policy %q: %w", p.Name, err)
	}
	// The private states are not among them: Parse adds those itself, and refuses them where a registered one has the name.
	types := map[string]stubs.Type{}
	for name, v := range *rt.states.Load() {
		types[name] = v.typ
	}
	funcs := map[string]bool{}
	for name := range rt.funcs {
		funcs[name] = true
	}
	program, err := p.Parse(types, funcs)
	if err != nil {
		return nil, fmt.Errorf("cocoon: %w", err)
	}
	if err := rt.checkTenants(program); err != nil {
		return nil, fmt.Errorf("cocoon: policy %q: %w", p.Name, err)
	}
	verified, err := analyzer.Verify(program, analyzer.Limits{Interval: p.On.Interval})
	if err != nil {
		return nil, fmt.Errorf("cocoon: policy %q: %w", p.Name, err)
	}
	module, err := rt.store.Compile(verified)
	if err != nil {
		return nil, fmt.Errorf("cocoon: policy %q: %w", p.Name, err)
	}
	if slices.ContainsFunc(program.Reads, func(r policy.Read) bool { return r.Stub == stubs.ArrivingCost }) {
		rt.costs.Store(true)
	}
	return &compiled{p, verified, module, private}, nil
}

// install puts a version in force: all is made ready first, then each loop changes over under its lock. Called with
// regMu held. On an error the version before it stays.
func (r *Registration) install(c *compiled) error {
	fresh := &Registration{rt: r.rt, name: r.name, now: c}
	for _, l := range *r.rt.loops.Load() {
		if err := fresh.prepare(l, r); err != nil {
			fresh.discard()
			return fmt.Errorf("cocoon: policy %q: %w", r.name, err)
		}
	}
	old := &Registration{now: r.now, bounds: r.bounds}
	r.now, r.bounds = c, fresh.bounds
	r.stats.failures.Store(0)
	r.off.Store(false)
	for _, l := range *r.rt.loops.Load() {
		l.exchange(boundOn(l, old.bounds), boundOn(l, r.bounds))
	}
	old.discard()
	return nil
}

// prepare makes the policy ready for a loop, if it matches; owner is whom its evaluations are counted for.
func (r *Registration) prepare(l *Loop, owner *Registration) error {
	if m := r.now.spec.Match.Loops; len(m) > 0 && !slices.Contains(m, l.cfg.Name) {
		return nil
	}
	eval, err := r.now.module.NewEvaluator()
	if err != nil {
		return err
	}
	r.bounds = append(r.bounds, newBound(owner, r.now, l, eval))
	return nil
}

// bind puts the policy in force on a new loop. Called with regMu held, before the loop is seen by others.
func (r *Registration) bind(l *Loop) error {
	if r.off.Load() {
		return nil
	}
	n := len(r.bounds)
	if err := r.prepare(l, r); err != nil {
		return err
	}
	for _, b := range r.bounds[n:] {
		l.exchange(nil, b)
	}
	return nil
}

// unbindFrom undoes bind for a loop that did not come to be.
func (r *Registration) unbindFrom(l *Loop) {
	r.bounds = slices.DeleteFunc(r.bounds, func(b *bound) bool { return b.loop == l })
}

// unbind takes the policy out of force everywhere. Called with regMu held.
func (r *Registration) unbind() {
	r.off.Store(true)
	for _, b := range r.bounds {
		b.loop.exchange(b, nil)
	}
	r.discard()
	r.bounds = nil
}

// discard frees the module, when no loop evaluates it any more.
func (r *Registration) discard() {
	for _, b := range r.bounds {
		b.eval.Close()
	}
	if r.now != nil {
		r.now.module.Close()
	}
}

// Name returns the policy's name.
func (r *Registration) Name() string { return r.name }

// Update replaces the policy by another version, which may have another trigger, expression, mode, match and private
// state; its Name must be the same, or empty. On an error the present version stays in force. A policy that was switched
// off after failures is on again.
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
	c, err := r.rt.compile(p)
	if err != nil {
		return err
	}
	if err := r.install(c); err != nil {
		return errors.Join(err, c.module.Close())
	}
	r.rt.repace()
	return nil
}

// Cancel takes the policy out of force. When it returns, no evaluation of it is under way and none will begin; its name
// is free. Cancelling twice does nothing.
func (r *Registration) Cancel() {
	r.rt.regMu.Lock()
	defer r.rt.regMu.Unlock()
	if r.rt.policies[r.name] == r {
		delete(r.rt.policies, r.name)
		r.unbind()
		r.rt.repace()
	}
}

// Policy returns the version in force, as it was registered.
func (r *Registration) Policy() Policy {
	r.rt.regMu.Lock()
	defer r.rt.regMu.Unlock()
	p := r.now.spec
	p.State = maps.Clone(p.State)
	return p
}

// Warnings returns what the analyzer found questionable in the version in force.
func (r *Registration) Warnings() []string {
	r.rt.regMu.Lock()
	defer r.rt.regMu.Unlock()
	var texts []string
	for _, w := range r.now.verified.Warnings() {
		texts = append(texts, w.Error.Error())
	}
	return texts
}

// repace recomputes the pace after a change of the policies; when one changes its interval, the timer does. Called with
// regMu held.
func (rt *Runtime) repace() {
	least := int64(notify.Never)
	for _, r := range rt.policies {
		if !r.off.Load() {
			least = min(least, r.leastInterval())
		}
	}
	rt.pace.Store(paceOf(least))
	rt.timer.WakeAt(0) // tasks may be running already
}

// leastInterval returns the policy's least interval on a loop, in ns; notify.Never when it is no time policy. Called with regMu
// held.
func (r *Registration) leastInterval() int64 {
	least := int64(notify.Never)
	for _, b := range r.bounds {
		if i := b.interval.Load(); i > 0 {
			least = min(least, i)
		}
	}
	return least
}

// paceOf returns the pace for the least interval of all.
func paceOf(least int64) int64 {
	if least == notify.Never {
		return 0
	}
	return least
}

// RegisterTimeLimit registers a time limit on a section, or on the tasks of a name: what runs longer is thrown into.
func (rt *Runtime) RegisterTimeLimit(t TimeLimit) (*Registration, error) {
	p, err := t.Spec()
	if err != nil {
		return nil, err
	}
	return rt.RegisterPolicy(p)
}

// RegisterDefaultPreemption registers the policy by which a waiting safe task preempts a preemptible one: with OnEnqueue
// when it arrives, with Every(d) within d.
func (rt *Runtime) RegisterDefaultPreemption(on Trigger) (*Registration, error) {
	return rt.RegisterPolicy(policy.DefaultPreemption(on))
}
