package cocoon

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cocoon-go/cocoon/policy"
)

// LoadPolicyFile is LoadPolicies of a file; its errors begin with the file's name, and the line and column. When the file was loaded before, what it
// says now replaces what it said then: policies that it still has are not touched, states that it still has keep their
// values unless their first ones are others, and the rest is taken out of force. On an error all stays as it was. Tasks
// that have arrived keep their kind, priority and labels. Which file it is, its absolute path says.
func (rt *Runtime) LoadPolicyFile(name string) error {
	rt.loadMu.Lock()
	defer rt.loadMu.Unlock()
	path, err := filepath.Abs(name)
	if err != nil {
		return fmt.Errorf("cocoon: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("cocoon: %w", err)
	}
	defer f.Close()
	if err := rt.load(f, path); err != nil {
		return policy.InFile(err, name)
	}
	return nil
}

// LoadPolicies reads a YAML document (docs/policy.md) and registers its states, tenants and policies, and what it says of
// tasks. Either all are registered or, on an error, none. Functions that its policies call must be registered before.
func (rt *Runtime) LoadPolicies(r io.Reader) error { return rt.load(r, "") }

// load puts a document in force, in place of the one that was loaded from the path before.
func (rt *Runtime) load(r io.Reader, path string) error {
	doc, err := policy.ReadDocument(r)
	if err != nil {
		return err
	}
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	if rt.closing {
		return fmt.Errorf("cocoon: document: %w", ErrShutdown)
	}
	was := rt.files[path]
	if was == nil {
		was = &document{}
	}
	c, err := rt.newChange(was, doc)
	if err != nil {
		return err
	}
	is := c.commit()
	if path != "" {
		rt.files[path] = is
	}
	return nil
}
