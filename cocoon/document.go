package cocoon

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/cocoon-go/cocoon/policy"
)

// document is what a YAML document has put in force, or is about to. It does not change; regMu
// guards what it leads to.
type document struct {
	states   map[string]*stateVar // as declared: their first values, not those that they have
	tasks    map[string]*declared
	tenants  *tenantTable // nil: it says nothing of them
	before   *tenantTable // in force before those
	versions []*version   // in their order
	source   *policy.Document
}

// change is what it takes to put a document in force in place of another: all that can fail is done
// in the making of it.
type change struct {
	rt      *Runtime
	was     *document // no longer in force afterwards; an empty one where the document is new
	is      *document
	scope   scope      // of policies afterwards
	changed []*version // made for it
	modes   []newMode  // of versions that stay
}

type newMode struct {
	of   *version
	mode Mode
}

// newChange checks and prepares a document. Called with regMu held.
func (rt *Runtime) newChange(was *document, doc *policy.Document) (*change, error) {
	c := &change{rt: rt, was: was, is: &document{source: doc}}
	var err error
	if c.is.tasks, err = rt.declaredOf(doc, was); err != nil {
		return nil, err
	}
	if err := c.states(doc); err != nil {
		return nil, err
	}
	if err := c.tenants(doc.Tenants); err != nil {
		return nil, doc.Refused(policy.Part{Kind: "tenants"}, err)
	}
	if err := c.others(); err != nil {
		return nil, err
	}
	if err := c.policies(doc); err != nil {
		for _, v := range c.changed {
			v.discard()
		}
		return nil, err
	}
	return c, nil
}

// states decides which states there will be: those of the document before that are declared again,
// with the same type, stay.
func (c *change) states(doc *policy.Document) (err error) {
	if c.is.states, err = newStates(doc.States); err != nil {
		return err
	}
	now := *c.rt.states.Load()
	c.scope.states = maps.Clone(now)
	for name := range c.was.states {
		delete(c.scope.states, name)
	}
	for _, name := range slices.Sorted(maps.Keys(c.is.states)) {
		switch v, was := c.is.states[name], c.was.states[name]; {
		case c.scope.states[name] != nil:
			return doc.Refused(policy.Part{Kind: "state", Name: name}, ErrDuplicate)
		case was != nil && was.typ == v.typ:
			c.scope.states[name] = now[name]
		default:
			c.scope.states[name] = newState(v.typ, v.first)
		}
	}
	return nil
}

// tenants decides which tenants there will be. Those that the document before had brought count no
// more, if they are still in force.
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

// others refuses to take away what policies refer to that are not of the document.
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

// policies makes the versions of the document's policies; those that are in force as they stand
// there are not touched.
func (c *change) policies(doc *policy.Document) error {
	before := make(map[string]*version, len(c.was.versions))
	for _, v := range c.was.versions {
		before[v.of.name] = v
	}
	for _, p := range doc.Policies {
		v, r := before[p.Name], c.rt.policies[p.Name]
		switch {
		case r == nil:
			r = &Registration{rt: c.rt, name: p.Name}
		case v == nil || v.of != r:
			return doc.Refused(policy.Part{Kind: "policy", Name: p.Name}, ErrDuplicate)
		case c.stands(v, p):
			c.is.versions = append(c.is.versions, v)
			if p.Mode != v.spec.Mode {
				c.modes = append(c.modes, newMode{v, p.Mode})
			}
			continue
		}
		fresh, err := r.ready(p, c.scope)
		if err != nil {
			return doc.Refused(policy.Part{Kind: "policy", Name: p.Name}, err)
		}
		c.changed = append(c.changed, fresh)
		c.is.versions = append(c.is.versions, fresh)
	}
	return nil
}

// stands reports whether v, which is registered, is in force and is what p would come to, but for
// the mode.
func (c *change) stands(v *version, p Policy) bool {
	p.Mode = v.spec.Mode
	return !v.off.Load() && reflect.DeepEqual(v.spec, p) && v.missing(c.scope) == ""
}

// missing returns the first of what v refers to that is not the same in the scope, or "".
func (v *version) missing(in scope) string {
	for _, name := range slices.Sorted(maps.Keys(v.states)) {
		if _, private := v.spec.State[name]; !private && in.states[name] != v.states[name] {
			return fmt.Sprintf("the state %q of type %v", name, v.states[name].typ)
		}
	}
	if stub := v.verified.Program().AboutTenants(); stub != "" && in.tenants == nil {
		return "tenants"
	}
	return ""
}

// commit puts the change in force, and cannot fail: first states and tasks, of which policies in
// force notice nothing, then the policies. Called with regMu held.
func (c *change) commit() *document {
	rt := c.rt
	rt.states.Store(&c.scope.states)
	rt.betweenSteps(func() {
		for name, v := range c.is.states {
			if was := c.was.states[name]; was != nil && was.typ == v.typ && was.first != v.first {
				c.scope.states[name].restart(v.first)
			}
		}
	})
	rt.redeclare(c.was.tasks, c.is.tasks)
	var out []*version
	for _, v := range c.was.versions {
		if rt.policies[v.of.name] == v.of { // it has not cancelled itself
			out = append(out, v.of.now) // which Update may have put in its place
		}
	}
	for _, m := range c.modes {
		m.of.spec.Mode, m.of.own = m.mode, m.mode
	}
	if c.scope.tenants != nil { // before the policies that read them, and not after
		rt.installTenants(c.scope.tenants)
	}
	rt.exchange(out, c.is.versions)
	if c.scope.tenants == nil {
		rt.installTenants(nil)
	}
	return c.is
}
