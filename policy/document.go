package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"
)

// MaxDocument bounds a YAML document, in bytes.
const MaxDocument = 1 << 20

// Document is what a YAML document declares, for people who operate servers. docs/policy.md describes its format.
type Document struct {
	States   map[string]any   // name -> initial value: bool, int64, float64 or time.Duration
	Tasks    map[string]Class // by task name, or pattern of names; Default is "*"
	Mode     Mode             // of all policies, as far as they say no greater one; they have it already
	Tenants  *Tenants         // nil when there is nothing about them
	Policies []Spec           // limits first, then preemption, then the order and the background, then the policies, each valid
	Lines    map[string]int   // where each of them begins, by its name
}

// ReadDocument reads a YAML document. It is strict: unknown and repeated keys, wrong types, aliases and tags are errors,
// which begin with "document:LINE: ". It does not parse the expressions: what they may refer to is known where they are
// registered.
func ReadDocument(r io.Reader) (*Document, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxDocument+1))
	if err != nil {
		return nil, fmt.Errorf("document: %w", err)
	}
	if len(text) > MaxDocument {
		return nil, fmt.Errorf("document: it has more than %d bytes; split it", MaxDocument)
	}
	root, err := readYAML(text)
	if err != nil {
		return nil, err
	}
	var d documentReader
	d.doc.States, d.doc.Tasks, d.doc.Lines = map[string]any{}, map[string]Class{}, map[string]int{}
	if err := d.decode(root); err != nil {
		return nil, err
	}
	return &d.doc, nil
}

// documentReader is a document under way.
type documentReader struct{ doc Document }

// add takes a policy that the node n declares.
func (d *documentReader) add(n *yaml.Node, s Spec) error {
	s.Mode = max(s.Mode, d.doc.Mode)
	if err := s.Validate(); err != nil {
		return lineError(n, "%v", err)
	}
	if line, twice := d.doc.Lines[s.Name]; twice {
		return lineError(n, "there is another policy %q, in line %d", s.Name, line)
	}
	d.doc.Lines[s.Name] = n.Line
	d.doc.Policies = append(d.doc.Policies, s)
	return nil
}

// readYAML parses the one document in text, without aliases and tags.
func readYAML(text []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	switch err := decoder.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, errors.New("document:1: it is empty; write version: 1")
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
	return root, plain(root)
}

// hints say what is behind those errors of the YAML parser that do not tell.
var hints = []struct{ message, hint string }{
	{"cannot start any token", "indent with spaces, not tabs, and put texts that begin with % @ or ` in quotes"},
	{"mapping values are not allowed", "check the indentation, and put texts with a colon and a space in quotes, or behind |"},
	{"did not find expected", "check the indentation, and that brackets and quotes are closed"},
	{"unexpected end of stream", "close the quotes or brackets that this line opens"},
}

// yamlError gives an error of the YAML parser our form.
func yamlError(err error) error {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	for _, h := range hints {
		if strings.Contains(message, h.message) {
			message += "; " + h.hint
			break
		}
	}
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		return fmt.Errorf("document:%s", rest)
	}
	return fmt.Errorf("document:1: %s", message)
}

func lineError(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("document:%d: %s", n.Line, fmt.Sprintf(format, args...))
}

// plain refuses aliases, which can make a small text expand without end, and tags.
func plain(n *yaml.Node) error {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return lineError(n, "anchors and aliases are not supported; write the value out")
	case n.Style&yaml.TaggedStyle != 0:
		return lineError(n, "the tag %s is not supported; remove it", n.Tag)
	}
	for _, c := range n.Content {
		if err := plain(c); err != nil {
			return err
		}
	}
	return nil
}

// decode fills the document from its root.
func (d *documentReader) decode(root *yaml.Node) error {
	var version int64
	err := decodeMap(root, "the document", []key{
		{name: "version", required: true, read: func(n *yaml.Node) error { return readInt(n, &version) }},
		{name: "mode", read: func(n *yaml.Node) error { return readMode(n, &d.doc.Mode) }}, // before the policies, to which add gives it
		{name: "states", read: d.readStates},
		{name: "limits", read: d.readLimits},
		{name: "preemption", read: d.readPreemption},
		{name: "tenants", read: d.readTenants},
		{name: "order", read: d.readOrder},
		{name: "tasks", read: d.readTasks},
		{name: "policies", read: d.readPolicies},
	})
	if err == nil && version != 1 {
		return lineError(root, "version %d is not known; write version: 1", version)
	}
	return err
}
