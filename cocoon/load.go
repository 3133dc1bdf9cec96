package cocoon

import (
	"fmt"
	"io"
	"os"

	"github.com/cocoon-go/cocoon/policy"
)

// LoadPolicyFile is LoadPolicies of a file. Its errors begin with the file's name.
func (rt *Runtime) LoadPolicyFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("cocoon: %w", err)
	}
	defer f.Close()
	if err := rt.LoadPolicies(f); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// LoadPolicies reads a YAML document (docs/policy.md) and registers its states, tenants and policies, and what it says of
// tasks. Either all are registered or, on an error, none. Functions that its policies call must be registered before.
func (rt *Runtime) LoadPolicies(r io.Reader) error {
	doc, err := policy.ReadDocument(r)
	if err != nil {
		return fmt.Errorf("cocoon: %w", err)
	}
	states, err := newStates(doc.States)
	if err != nil {
		return err
	}
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	if rt.closing {
		return fmt.Errorf("cocoon: document: %w", ErrShutdown)
	}
	classes, err := rt.declare(doc.Tasks)
	if err != nil {
		return err
	}
	before := rt.states.Load()
	if err := rt.addStates(states); err != nil {
		return err
	}
	tenants := rt.tenants.Load()
	if doc.Tenants != nil {
		if err := rt.setTenants(*doc.Tenants); err != nil {
			rt.states.Store(before)
			return err
		}
	}
	var done []*Registration
	for _, p := range doc.Policies {
		r, err := rt.register(p)
		if err != nil {
			for _, r := range done {
				delete(rt.policies, r.name)
				r.unbind()
			}
			rt.repace()
			rt.states.Store(before)
			rt.installTenants(tenants)
			return fmt.Errorf("document:%d: %w", doc.Lines[p.Name], err)
		}
		done = append(done, r)
	}
	for _, c := range classes {
		rt.addKind(c.class, c.kind)
		c.class.declared.Store(c.declared)
	}
	return nil
}
