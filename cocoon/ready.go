package cocoon

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/kernel"
	"github.com/cocoon-go/cocoon/internal/states"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// scope holds the names that policies may refer to, except functions: registered ones, and ones
// about to be registered.
type scope struct {
	states  map[string]*states.Var
	tenants *tenantTable
}

var errNoTenants = errors.New("no tenants are registered; register them with RegisterTenants, or in a document as tenants")

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
	limits := analyzer.LimitsOf(p)
	limits.Processors = kernel.OwnProcs()
	if v.verified, err = analyzer.Verify(program, limits); err != nil {
		return nil, fmt.Errorf("cocoon: policy %q: %w", p.Name, err)
	}
	v.basis.Store(&basis{program: program})
	v.queued = v.verified.NeedsQueue()
	if p.On.Interval > 0 || p.On.Events&stubs.Enqueue != 0 {
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

// place records the document that declares the version. Called with regMu held.
func (v *version) place(d *loadedDocument) {
	v.from.Store(d)
	v.rebase(&basis{program: v.verified.Program(), source: d.source, file: d.file})
}

// rebase replaces the text of later rulings; none is for a version that goes out of force. Called
// with regMu held, before decisions are settled.
func (v *version) rebase(to *basis) {
	was := v.basis.Load()
	if to != nil {
		v.basis.Store(to)
	}
	was.gone.Store(true)
	v.of.rt.gone = append(v.of.rt.gone, was)
}

// declarationsOf returns the declarations of the registered states. A policy's private states are
// not included: Parse adds them, and refuses a private state with the name of a registered one.
func declarationsOf(states map[string]*states.Var) map[string]policy.State {
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
func statesOf(p *ir.Program, private map[string]policy.State, registered map[string]*states.Var) map[string]*states.Var {
	all := make(map[string]*states.Var, len(private))
	for name, s := range private {
		if s.PerLoop {
			all[name] = states.OfEachLoop(s)
		} else {
			all[name] = states.New(s)
		}
	}
	refer := func(name string) {
		if all[name] == nil {
			all[name] = registered[name]
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
	return all
}

// members returns the policies in force: the policies on arrivals in the order in which a loop
// evaluates them, and then the rest. Called with regMu held.
func (rt *Runtime) members() (all []analyzer.Member) {
	for _, v := range rt.inOrder() {
		all = append(all, v.member())
	}
	return all
}

// inOrder returns the versions in force, in the order of members. Called with regMu held.
func (rt *Runtime) inOrder() (all []*version) {
	place := map[*version]int{}
	for _, l := range *rt.loops.Load() {
		for i, b := range l.hub.Listeners(uint16(stubs.Enqueue)) {
			place[b.version] = max(place[b.version], i+1)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rt.policies)) {
		all = append(all, rt.policies[name].now)
	}
	slices.SortStableFunc(all, func(v, w *version) int { return cmp.Compare(uint(place[v])-1, uint(place[w])-1) })
	return all
}
