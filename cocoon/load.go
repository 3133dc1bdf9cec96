package cocoon

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/policy/document"
)

// LoadPolicyFile is LoadPolicies for a file. Its errors begin with the file's name, the line and
// the column. If the file was loaded before, its new content replaces the old: policies that did
// not change are left alone, states keep their values unless their initial values changed, and
// everything no longer in the file is taken out of force. On an error nothing changes. Tasks that
// have arrived keep their kind, priority and labels. Files are identified by absolute path.
func (rt *Runtime) LoadPolicyFile(name string) error {
	_, _, err := rt.loadPolicyFile(name, false, func(string, textSum) bool { return true })
	return err
}

// loadPolicyFile loads a file if wanted returns true for its absolute path and the sum of its text.
// If regular, the file must be a regular one.
func (rt *Runtime) loadPolicyFile(name string, regular bool, wanted func(path string, text textSum) bool) (text textSum, loaded bool, err error) {
	rt.loadMu.Lock()
	defer rt.loadMu.Unlock()
	path, doc, text, err := readPolicyFile(name, regular)
	if !wanted(path, text) {
		return text, false, nil
	}
	if err == nil {
		err = rt.load(doc, path, name, text)
	}
	err = inFile(err, name)
	rt.countLoad(path, name, err)
	return text, true, rt.tellLoad(name, err)
}

// tellLoad puts the loading of a document into the stream of decisions, or the error that prevented
// it, and returns the error.
func (rt *Runtime) tellLoad(file string, err error) error {
	d := Decision{Kind: DecisionDocumentLoaded, File: file}
	if err != nil {
		d.Kind, d.Reason = DecisionDocumentRefused, cutText(err.Error(), maxDecisionText)
	}
	rt.decisions.add(sortChange, &d)
	return err
}

// CheckPolicyFile returns the changes that LoadPolicyFile would make now with that file, and makes
// none: what it would add, replace or take out of force. It returns the error that LoadPolicyFile
// would return.
func (rt *Runtime) CheckPolicyFile(name string) ([]PolicyChange, error) {
	rt.loadMu.Lock()
	defer rt.loadMu.Unlock()
	path, doc, _, err := readPolicyFile(name, false)
	var changes []PolicyChange
	if err == nil {
		changes, err = rt.checkLoad(doc, path, name)
	}
	return changes, inFile(err, name)
}

// readPolicyFile reads a document, and returns the file's absolute path, and the sum of its text
// even if it is not a document. A program may load a pipe at its start. A watch reads regular files
// only: it would wait for the writer of a pipe, and no document could be loaded in that time.
func readPolicyFile(name string, regular bool) (path string, doc *document.Document, text textSum, err error) {
	if path, err = filepath.Abs(name); err != nil {
		return "", nil, text, fmt.Errorf("cocoon: %w", err)
	}
	if info, err := os.Stat(path); regular && err == nil && !info.Mode().IsRegular() {
		return path, nil, text, errIrregular
	}
	f, err := os.Open(path)
	if err != nil {
		return path, nil, text, fmt.Errorf("cocoon: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	doc, err = document.Read(io.TeeReader(f, h))
	return path, doc, textSum(h.Sum(nil)), err
}

var errIrregular = errors.New("it is not a regular file, so reading it might never end")

// inFile adds the file's name to an error about a document.
func inFile(err error, name string) error {
	var file *fs.PathError
	if err == nil || errors.As(err, &file) { // the error already has the name
		return err
	}
	return document.InFile(err, name)
}

// LoadPolicies reads a YAML document (docs/policy.md) and registers its states, tenants, policies
// and declarations of tasks. On an error nothing is registered. Functions that its policies call
// must be registered before.
func (rt *Runtime) LoadPolicies(r io.Reader) error {
	doc, err := document.Read(r)
	if err == nil {
		err = rt.load(doc, "", "", textSum{})
	}
	return rt.tellLoad("", err)
}

// load puts a document in force, and replaces the document that was loaded from the path before.
// name is the file's name in errors, and text is the document's text.
func (rt *Runtime) load(doc *document.Document, path, name string, text textSum) error {
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	c, err := rt.changeTo(doc, path, name)
	if err != nil {
		return err
	}
	var changes []string
	if path != "" {
		for _, change := range c.changes() {
			change.Details = nil
			changes = append(changes, change.String())
		}
	}
	is := c.commit()
	rt.tellDocument(c.was, is)
	if path != "" {
		is.text, is.changes = text, changes
		rt.files[path] = is
	}
	rt.beginCanary(path, is)
	return nil
}

// changeTo prepares a change to the document from the path. Called with regMu held.
func (rt *Runtime) changeTo(doc *document.Document, path, name string) (*change, error) {
	if rt.closing {
		return nil, fmt.Errorf("cocoon: document: %w", ErrShutdown)
	}
	was := rt.files[path]
	if was == nil {
		was = &loadedDocument{source: &document.Document{}, isNew: true}
	}
	return rt.newChange(was, &loadedDocument{source: doc, file: name})
}

// checkLoad is load without the change.
func (rt *Runtime) checkLoad(doc *document.Document, path, name string) ([]PolicyChange, error) {
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	c, err := rt.changeTo(doc, path, name)
	if err != nil {
		return nil, err
	}
	for _, v := range c.changed {
		v.discard()
	}
	return c.changes(), nil
}

// changes describes the effects of the change, before it is made. Called with regMu held.
func (c *change) changes() []PolicyChange {
	off := map[string]bool{}
	for _, v := range c.was.versions {
		off[v.of.name] = v.off.Load()
	}
	return document.Diff(c.was.source, c.is.source, off)
}

// lastChanges returns, in short, what the last loading of the file from the path has changed.
func (rt *Runtime) lastChanges(path string) []string {
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	if is := rt.files[path]; is != nil {
		return is.changes
	}
	return nil
}

// countLoad records the result of loading a file. A file whose content has never been in force does
// not become one of the documents: the caller has the error, and no later event would remove the
// file from the list.
func (rt *Runtime) countLoad(path, name string, err error) {
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	st := rt.loads[path]
	if st == nil && err != nil {
		return
	}
	if st == nil {
		st = new(DocumentStats)
		rt.loads[path] = st
	}
	st.name = name
	if err != nil {
		st.Refusals++
		st.Stale = err.Error()
		return
	}
	st.Loads++
	st.Loaded, st.Stale = time.Now(), ""
}

// documentStats returns the counters of the files that were loaded. Called with regMu held.
func (rt *Runtime) documentStats() map[string]DocumentStats {
	all := make(map[string]DocumentStats, len(rt.loads))
	for _, path := range slices.Sorted(maps.Keys(rt.loads)) {
		st := *rt.loads[path]
		if is := rt.files[path]; is != nil {
			st.Canary = is.canary.stats()
		}
		if _, taken := all[st.name]; taken {
			st.name = path // the working directory has changed since
		}
		all[st.name] = st
	}
	return all
}

// inForce reports whether that text of the file is in force, and no other text was refused since. A
// canary that was rolled back counts as in force, so that a watch does not try it again, even if
// the file was missing in between.
func (rt *Runtime) inForce(path string, text textSum) bool {
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	is := rt.files[path]
	if is == nil {
		return false
	}
	if is.rolledBack == text && text != (textSum{}) {
		rt.loads[path].Stale = ""
		return true
	}
	return is.text == text && rt.loads[path].Stale == ""
}
