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

// LoadPolicyFile is LoadPolicies for a file. Its errors begin with the file's name, the line and
// the column. If the file was loaded before, its new content replaces the old: policies that did
// not change are left alone, states keep their values unless their initial values changed, and
// everything no longer in the file is taken out of force. On an error nothing changes. Tasks that
// have arrived keep their kind, priority and labels. Files are identified by absolute path.
func (rt *Runtime) LoadPolicyFile(name string) error {
	rt.loadMu.Lock()
	defer rt.loadMu.Unlock()
	path, doc, err := readPolicyFile(name)
	if err == nil {
		err = rt.load(doc, path)
	}
	return inFile(err, name)
}

// CheckPolicyFile returns the changes that LoadPolicyFile would make now with that file, and makes
// none: what it would add, replace or take out of force. It returns the error that LoadPolicyFile
// would return.
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

// readPolicyFile reads a document, and returns the file's absolute path.
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

// inFile adds the file's name to an error about a document.
func inFile(err error, name string) error {
	var file *fs.PathError
	if err == nil || errors.As(err, &file) { // the error already has the name
		return err
	}
	return policy.InFile(err, name)
}

// LoadPolicies reads a YAML document (docs/policy.md) and registers its states, tenants, policies
// and declarations of tasks. On an error nothing is registered. Functions that its policies call
// must be registered before.
func (rt *Runtime) LoadPolicies(r io.Reader) error {
	doc, err := policy.ReadDocument(r)
	if err != nil {
		return err
	}
	return rt.load(doc, "")
}

// load puts a document in force, and replaces the document that was loaded from the path before.
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

// changeTo prepares a change to the document from the path. Called with regMu held.
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
			changes = append(changes, PolicyChange{Part: part, What: "change", Details: []string{"it starts again, because it is not in force, or because it refers to something that has changed"}})
		}
	}
	return changes, nil
}
