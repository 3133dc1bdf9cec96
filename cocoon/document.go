package cocoon

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/cocoon-go/cocoon/internal/states"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
)

// change holds everything needed to replace one document by another. All steps that can fail are
// done when the change is made.
type change struct {
	rt      *Runtime
	was     *loadedDocument // not in force afterwards; empty if the document is new
	is      *loadedDocument
	scope   scope      // that policies refer to afterwards
	changed []*version // made for the change
	modes   []newMode  // of versions that stay
	planned []planned  // of is.versions
}

type newMode struct {
	of   *version
	mode Mode
}

// newChange checks and prepares a document. Called with regMu held.
func (rt *Runtime) newChange(was, is *loadedDocument) (*change, error) {
	c, doc := &change{rt: rt, was: was, is: is}, is.source
	var err error
	if c.is.tasks, err = rt.declaredOf(doc, was); err != nil {
		return nil, err
	}
	if err := c.states(doc); err != nil {
		return nil, err
	}
	if err := c.tenants(doc.Tenants); err != nil {
		return nil, doc.Refused(document.Part{Kind: "tenants"}, err)
	}
	if is.canary, err = newCanary(doc, was, c.scope.tenants); err != nil {
		return nil, err
	}
	if err := c.others(); err != nil {
		return nil, err
	}
	if err := c.policies(); err != nil {
		for _, v := range c.changed {
			v.discard()
		}
		return nil, err
	}
	return c, nil
}

// states determines the states of the new document. A state that the previous document declared
// with the same type keeps its value. A bucket with another burst keeps its tokens, but counts as a
// new state for the policies that refer to it.
func (c *change) states(doc *document.Document) (err error) {
	if c.is.states, err = policy.StatesOf(doc.States); err != nil {
		return fmt.Errorf("cocoon: %w", err)
	}
	now := *c.rt.states.Load()
	c.scope.states = maps.Clone(now)
	for name := range c.was.states {
		delete(c.scope.states, name)
	}
	for _, name := range slices.Sorted(maps.Keys(c.is.states)) {
		s := c.is.states[name]
		was, again := c.was.states[name]
		switch {
		case c.scope.states[name] != nil:
			return doc.Refused(document.Part{Kind: "state", Name: name}, errTaken)
		case !again || !s.SameKind(was):
			c.scope.states[name] = states.New(s)
		case s.Bucket.Burst != was.Bucket.Burst:
			c.scope.states[name] = now[name].Sharing(s)
		default:
			c.scope.states[name] = now[name]
		}
	}
	return nil
}

// tenants decides which tenants will exist. Tenants that the previous document declared are
// dropped, if they are still in force.
func (c *change) tenants(t *Tenants) (err error) {
	now := c.rt.tenants.Load()
	if now != nil && now == c.was.tenants {
		now = c.was.before
	}
	if c.scope.tenants = now; t != nil {
		c.is.before = now
		c.is.tenants, err = newTenantTable(*t, now)
		c.scope.tenants = c.is.tenants
	}
	return err
}

// others returns an error if the change would remove an object to which policies outside of the
// document refer.
func (c *change) others() error {
	own := make(map[*Registration]bool, len(c.was.versions))
	for _, v := range c.was.versions {
		own[v.of] = true
	}
	for _, name := range slices.Sorted(maps.Keys(c.rt.policies)) {
		if r := c.rt.policies[name]; !own[r] {
			if missing := r.now.missing(c.scope); missing != "" {
				return fmt.Errorf("cocoon: the document no longer has %s, to which policy %q refers; take that policy out first", missing, name)
			}
		}
	}
	return nil
}

// policies makes the versions of the document's policies. Policies in force that the document
// repeats unchanged are left alone.
func (c *change) policies() error {
	before := make(map[string]*version, len(c.was.versions))
	for _, v := range c.was.versions {
		before[v.of.name] = v
	}
	for _, p := range c.is.plan() {
		v, r := before[p.name], c.rt.policies[p.name]
		refused := func(err error) error {
			return p.from.source.Refused(document.Part{Kind: "policy", Name: p.Name}, err)
		}
		switch {
		case r == nil:
			r = &Registration{rt: c.rt, name: p.name}
		case v == nil || v.of != r:
			return refused(errTaken)
		case c.stands(v, p.Policy) && (p.part == nil || p.Mode == v.spec.Mode):
			c.put(v, p)
			if p.Mode != v.spec.Mode {
				c.modes = append(c.modes, newMode{v, p.Mode})
			}
			continue
		}
		v, err := r.ready(p.Policy, c.scope)
		if err != nil {
			return refused(err)
		}
		c.changed = append(c.changed, v)
		c.put(v, p)
	}
	return nil
}

// put notes that the change puts a version in force.
func (c *change) put(v *version, p planned) {
	c.is.versions = append(c.is.versions, v)
	c.planned = append(c.planned, p)
}

// stands reports whether v, which is registered, is in force and equals what p would become, except
// for the mode.
func (c *change) stands(v *version, p Policy) bool {
	p.Mode = v.spec.Mode
	return !v.off.Load() && reflect.DeepEqual(v.spec, p) && v.missing(c.scope) == ""
}

// missing returns the first reference of v that has another meaning in the scope, or "".
func (v *version) missing(in scope) string {
	for _, name := range slices.Sorted(maps.Keys(v.states)) {
		if _, private := v.spec.State[name]; !private && in.states[name] != v.states[name] {
			return describeState(name, v.states[name].State)
		}
	}
	if stub := v.verified.Program().AboutTenants(); stub != "" && in.tenants == nil {
		return "tenants"
	}
	return ""
}

// describeState describes a state for messages.
func describeState(name string, s policy.State) string {
	if s.IsBucket() {
		return fmt.Sprintf("the bucket %q of %v tokens", name, s.Bucket.Burst)
	}
	return fmt.Sprintf("the state %q of type %s", name, s.Kind())
}

// commit puts the change in force, and cannot fail: first states and tasks, of which policies in
// force notice nothing, then the policies. Called with regMu held.
func (c *change) commit() *loadedDocument {
	rt := c.rt
	rt.states.Store(&c.scope.states)
	rt.betweenSteps(func() {
		for name, s := range c.is.states {
			if was, again := c.was.states[name]; again && s.SameKind(was) {
				c.scope.states[name].Redeclare(s, was, notify.Now())
			}
		}
	})
	rt.redeclare(c.was.tasks, c.is.tasks)
	rt.keepFor(c.was.source, c.is.source)
	var out []*version
	for _, v := range c.was.versions {
		if rt.policies[v.of.name] == v.of { // the policy has not cancelled itself
			out = append(out, v.of.now) // a version that Update may have put in its place
		}
	}
	for i, v := range c.is.versions {
		v.part = c.planned[i].part
		v.place(c.planned[i].from)
	}
	rt.changeCanary(c.was, c.is)
	for _, m := range c.modes {
		m.of.spec.Mode, m.of.own = m.mode, m.mode
		m.of.changed(DecisionMode, m.mode, "")
	}
	if c.scope.tenants != nil { // before the policies that read them, not after
		rt.installTenants(c.scope.tenants)
	}
	rt.replace(out, c.is.versions)
	if c.scope.tenants == nil {
		rt.installTenants(nil)
	}
	return c.is
}
