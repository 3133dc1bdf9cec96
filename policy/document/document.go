// Package document reads YAML documents, the form in which server operators write policies.
// docs/policy.md describes the format.
//
// # Documents
//
// [Read] reads a document, [Diff] compares two, and [Format] rewrites one in the canonical layout.
// A [Loaded] finds contradictions among the documents of one server. [Schema] is a JSON Schema for
// editors.
//
// # Tests
//
// [ReadTests] reads a file of tests of policies. Package policytest runs them.
package document

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/cocoon-go/cocoon/policy"
)

// MaxSize bounds a YAML document, in bytes.
const MaxSize = 1 << 20

// Document is the contents of a YAML document, the form in which server operators write policies.
// docs/policy.md describes its format.
type Document struct {
	States      map[string]any   // name -> initial value: bool, int64, float64 or time.Duration
	Tasks       map[string]Class // by task name, or pattern of names; Default is "*"
	Mode        policy.Mode      // of the whole document; already merged into Policies
	Tenants     *policy.Tenants  // nil when the document has none
	NeverUnwind []Kept
	Canary      *Canary       // nil: the document applies to all tasks
	Policies    []policy.Spec // valid: limits, preemption, order, background, policies

	lines []string
	parts map[Part]declaration
}

// Read reads a YAML document. It is strict: unknown and repeated keys, wrong types, aliases
// and tags are errors, each a *Error with its position. It does not parse the expressions,
// because the names that they may refer to are known only at registration.
func Read(r io.Reader) (*Document, error) {
	lines, root, err := readSource(r)
	if err != nil {
		return nil, err
	}
	var d documentReader
	d.doc = Document{States: map[string]any{}, Tasks: map[string]Class{}, parts: map[Part]declaration{}, lines: lines}
	if err := d.decode(root); err != nil {
		return nil, markIn(lines, err)
	}
	return &d.doc, nil
}

// Text returns the text of the document, with "\n" at the ends of its lines. Read makes the same
// document of it.
func (d *Document) Text() string { return strings.Join(d.lines, "\n") }

// readSource reads and parses the text of a document.
func readSource(r io.Reader) (lines []string, root *yaml.Node, err error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxSize+1))
	if err != nil {
		return nil, nil, fmt.Errorf("document: %w", err)
	}
	if len(text) > MaxSize {
		return nil, nil, &Error{File: "document", Reason: fmt.Sprintf("it has more than %d bytes", MaxSize), Hint: "split it"}
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	lines = sourceLines(text)
	if err = checkCharacters(text); err == nil {
		root, err = readYAML(text)
		err = pinpoint(lines, err)
	}
	return lines, root, markIn(lines, err)
}

// documentReader is the state of reading a document.
type documentReader struct {
	doc  Document
	zone string // of its policies
}

// add adds a policy that the node n declares. title is what the document calls it in place of its
// name, or "".
func (d *documentReader) add(n *yaml.Node, s policy.Spec, title string) error {
	s.Mode = max(s.Mode, d.doc.Mode)
	if err := s.Validate(); err != nil {
		return lineError(n, "%v", err)
	}
	part := Part{"policy", s.Name}
	switch first, twice := d.doc.parts[part]; {
	case twice && first.title == title:
		return lineError(n, "there is another %s, in line %d", cmp.Or(title, part.String()), first.node.Line)
	case twice:
		return lineError(n, "there is another %v, in line %d, made by %s; choose another name", part, first.node.Line, cmp.Or(first.title, title))
	}
	d.doc.parts[part] = declaration{node: n, title: title}
	d.doc.Policies = append(d.doc.Policies, s)
	return nil
}

// readYAML parses the one document in text, without aliases and tags.
func readYAML(text []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	switch err := decoder.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, &Error{File: "document", Line: 1, Col: 1, Reason: "it is empty", Hint: "write version: 1"}
	case err != nil:
		return nil, yamlError(err)
	}
	switch err := decoder.Decode(&more); {
	case err == nil:
		return nil, lineError(&more, "there is a second document; put it into another file")
	case !errors.Is(err, io.EOF):
		return nil, yamlError(err)
	}
	root := doc.Content[0]
	return root, checkNodes(root)
}

// hints explain errors of the YAML parser with unclear messages.
var hints = []struct{ message, hint string }{
	{"cannot start any token", "indent with spaces, not tabs, and put texts that begin with % @ or ` in quotes"},
	{"mapping values are not allowed", "check the indentation, and put texts with a colon and a space in quotes, or after |"},
	{"mapping keys are not allowed", "put texts that begin with ! or ? in quotes, or after |"},
	{"alphabetic or numeric character", "put names that begin with * or & in quotes"},
	{"did not find expected ',' or '}'", "check that brackets and quotes are closed, and put a text with {, }, ?, : or # between braces in quotes"},
	{"did not find expected ',' or ']'", "check that brackets and quotes are closed, and put a text with {, }, ?, : or # between brackets in quotes"},
	{"did not find expected", "check the indentation, and that brackets and quotes are closed"},
	{"exceeded max depth", "close the brackets and braces, or write blocks of indented lines; no document needs more than ten levels"},
	{"unexpected end of stream", "close the quotes or brackets that this line opens"},
}

// yamlError converts an error of the YAML parser to an Error.
func yamlError(err error) error {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	for _, h := range hints {
		if strings.Contains(message, h.message) {
			message += "; " + h.hint
			break
		}
	}
	line := 0
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		number, reason, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			line, message = n, reason
		}
	}
	// errors of its grammar count lines from 0
	if strings.Contains(message, "did not find expected") {
		line++
	}
	return &Error{File: "document", Line: max(line, 1), Col: 1, Width: 1, Reason: message}
}

// decode fills the document from its root.
func (d *documentReader) decode(root *yaml.Node) error {
	return decodeMap(root, "the document", []key{
		{name: "version", required: true, read: readVersion},
		// the policies, read below, need the mode and the zone
		{name: "mode", read: func(n *yaml.Node) error { return readMode(n, &d.doc.Mode) }},
		{name: "zone", read: func(n *yaml.Node) error { return readZone(n, &d.zone) }},
		{name: "states", read: d.readStates},
		{name: "limits", read: d.readLimits},
		{name: "preemption", read: d.readPreemption},
		{name: "tenants", read: d.readTenants},
		{name: "order", read: d.readOrder},
		{name: "tasks", read: d.readTasks},
		{name: "never-unwind", read: d.readNeverUnwind},
		{name: "canary", read: d.readCanary},
		{name: "policies", read: d.readPolicies},
	})
}

func readZone(n *yaml.Node, to *string) error {
	if err := readString(n, to); err != nil {
		return err
	}
	if *to == "" {
		return lineError(n, "the zone is empty; leave it out for UTC, or write a name, as in Europe/Berlin")
	}
	if _, err := (policy.Spec{Zone: *to}).Location(); err != nil {
		return lineError(n, "%v", err)
	}
	return nil
}

func readVersion(n *yaml.Node) error {
	var version int64
	if err := readInt(n, &version); err != nil {
		return err
	}
	if version != 1 {
		return lineError(n, "version %d is not known; write version: 1", version)
	}
	return nil
}
