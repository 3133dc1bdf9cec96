package cocoon

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/cocoon-go/cocoon/policy"
)

// LoadPolicyFile is LoadPolicies of a file; its errors begin with the file's name, and the line and
// column. When the file was loaded before, what it says now replaces what it said then: policies
// that it still has are not touched, states that it still has keep their values unless their first
// ones are others, and the rest is taken out of force. On an error all stays as it was. Tasks that
// have arrived keep their kind, priority and labels. Which file it is, its absolute path says.
func (rt *Runtime) LoadPolicyFile(name string) error {
	rt.loadMu.Lock()
	defer rt.loadMu.Unlock()
	path, doc, err := readPolicyFile(name)
	if err == nil {
		err = rt.load(doc, path)
	}
	return inFile(err, name)
}

// CheckPolicyFile says what LoadPolicyFile of that file would change now, and changes nothing: what
// it would add, put in place of what is in force, or take out of force. The error is the one that
// LoadPolicyFile would return.
func (rt *Runtime) CheckPolicyFile(name string) ([]PolicyChange, error) {
	rt.loadMu.Lock()
	defer rt.loadMu.Unlock()
	path, doc, err := readPolicyFile(name)
	var changes []PolicyChange
	if err == nil {
		changes, err = rt.checkLoad(doc, path)
	}
	return changes, inFile(err, name)
}

// readPolicyFile reads a document, and says which file it is.
func readPolicyFile(name string) (path string, doc *policy.Document, err error) {
	if path, err = filepath.Abs(name); err != nil {
		return "", nil, fmt.Errorf("cocoon: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", nil, fmt.Errorf("cocoon: %w", err)
	}
	defer f.Close()
	doc, err = policy.ReadDocument(f)
	return path, doc, err
}

// inFile names the file in an error about a document.
func inFile(err error, name string) error {
	var file *fs.PathError
	if err == nil || errors.As(err, &file) { // that names it itself
		return err
	}
	return policy.InFile(err, name)
}

// LoadPolicies reads a YAML document (docs/policy.md) and registers its states, tenants and
// policies, and what it says of tasks. Either all are registered or, on an error, none. Functions
// that its policies call must be registered before.
func (rt *Runtime) LoadPolicies(r io.Reader) error {
	doc, err := policy.ReadDocument(r)
	if err != nil {
		return err
	}
	return rt.load(doc, "")
}

// load puts a document in force, in place of the one that was loaded from the path before.
func (rt *Runtime) load(doc *policy.Document, path string) error {
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	c, err := rt.changeTo(doc, path)
	if err != nil {
		return err
	}
	is := c.commit()
	if path != "" {
		rt.files[path] = is
	}
	return nil
}

// changeTo prepares a change to the document, which stands at the path. Called with regMu held.
func (rt *Runtime) changeTo(doc *policy.Document, path string) (*change, error) {
	if rt.closing {
		return nil, fmt.Errorf("cocoon: document: %w", ErrShutdown)
	}
	was := rt.files[path]
	if was == nil {
		was = &document{source: &policy.Document{}}
	}
	return rt.newChange(was, doc)
}

// checkLoad is load without the change.
func (rt *Runtime) checkLoad(doc *policy.Document, path string) ([]PolicyChange, error) {
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	c, err := rt.changeTo(doc, path)
	if err != nil {
		return nil, err
	}
	changes := policy.Diff(c.was.source, doc)
	for _, v := range c.changed {
		v.discard()
		part := policy.Part{Kind: "policy", Name: v.of.name}
		if !slices.ContainsFunc(changes, func(c PolicyChange) bool { return c.Part == part }) {
			changes = append(changes, PolicyChange{Part: part, What: "change", Details: []string{"it begins anew, because it is not in force or what it refers to is another"}})
		}
	}
	return changes, nil
}
