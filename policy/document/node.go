package document

import (
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/policy"
)

// key is one key that a mapping may have. A new key also needs schema.json (TestSchemaHasAllKeys),
// ../validate.go, diff_details.go and docs/policy.md.
type key struct {
	name     string
	required bool
	read     func(*yaml.Node) error
}

// decodeMap reads a mapping; what names it in errors. It reads the keys in the order of the list,
// not of the text, so that the order in the document has no meaning.
func decodeMap(n *yaml.Node, what string, keys []key) error {
	values, err := mapping(n, what)
	if err != nil {
		return err
	}
	known := make([]string, len(keys))
	for i, k := range keys {
		known[i] = k.name
	}
	for i := 0; i < len(n.Content); i += 2 {
		if name := n.Content[i].Value; !contains(keys, name) {
			hint := lang.DidYouMean(name, known)
			if name == "zone" || name == "tenants" || name == "order" { // of all policies
				hint = "it is a key of the document, at the top"
			}
			return lineError(n.Content[i], "%s has no key %q; %s", what, name, hint)
		}
	}
	for _, k := range keys {
		v, ok := values[k.name]
		if !ok && k.required {
			return lineError(n, "%s needs the key %s", what, k.name)
		}
		if !ok {
			continue
		}
		if err := k.read(v); err != nil {
			return err
		}
	}
	return nil
}

func contains(keys []key, name string) bool {
	for _, k := range keys {
		if k.name == name {
			return true
		}
	}
	return false
}

// mapping returns the values of a mapping by key, each key once.
func mapping(n *yaml.Node, what string) (map[string]*yaml.Node, error) {
	if n.Kind != yaml.MappingNode {
		return nil, lineError(n, "%s is %s; want keys and values", what, nodeKind(n))
	}
	values := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.ShortTag() != "!!str" || k.Value == "" {
			return nil, lineError(k, "a key of %s is %s; want a name, in quotes if need be", what, nodeKind(k))
		}
		if first, twice := values[k.Value]; twice {
			return nil, lineError(k, "%s has the key %q twice, first in line %d", what, k.Value, first.Line)
		}
		values[k.Value] = v
	}
	return values, nil
}

// sequence returns the elements of a list.
func sequence(n *yaml.Node, what string) ([]*yaml.Node, error) {
	if n.Kind != yaml.SequenceNode {
		hint := "want a list"
		if n.ShortTag() == "!!str" {
			hint += ", [" + asWritten(n) + "]"
		}
		return nil, lineError(n, "%s is %s; %s", what, nodeKind(n), hint)
	}
	return n.Content, nil
}

// nodeKind describes a node's kind, for an error.
func nodeKind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!null":
		return "nothing"
	case "!!str":
		return "the string " + strconv.Quote(n.Value)
	case "!!bool", "!!int", "!!float":
		return strings.TrimPrefix(n.ShortTag(), "!!") + " " + n.Value
	}
	return n.Value
}

func readString(n *yaml.Node, to *string) error {
	switch {
	case n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null":
		return lineError(n, "%s stands where a string is wanted", nodeKind(n))
	case n.ShortTag() != "!!str":
		return lineError(n, "%s stands where a string is wanted; write it in quotes", nodeKind(n))
	}
	*to = n.Value
	return nil
}

func readInt(n *yaml.Node, to *int64) error {
	if err := leadingZero(n); err != nil {
		return err
	}
	if n.ShortTag() != "!!int" || n.Decode(to) != nil {
		return lineError(n, "%s stands where a whole number is wanted", nodeKind(n))
	}
	return nil
}

func readBool(n *yaml.Node, to *bool) error {
	if n.ShortTag() != "!!bool" || n.Decode(to) != nil {
		return lineError(n, "%s stands where true or false is wanted", nodeKind(n))
	}
	return nil
}

func readDuration(n *yaml.Node, to *time.Duration) error {
	hint := lineError(n, `%s stands where a duration is wanted; write it like 100ms or 1.5s`, nodeKind(n))
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
		return hint
	}
	d, err := time.ParseDuration(n.Value)
	if err != nil || !hasUnit(n.Value) {
		return hint
	}
	*to = d
	return nil
}

// hasUnit reports whether a duration has a unit. Go takes 0 for a duration without one.
func hasUnit(duration string) bool { return strings.Trim(duration, "+-0") != "" }

func readStrings(n *yaml.Node, what string, to *[]string) error {
	items, err := sequence(n, what)
	if err != nil {
		return err
	}
	for _, item := range items {
		var s string
		if err := readString(item, &s); err != nil {
			return err
		}
		*to = append(*to, s)
	}
	return nil
}

// readStateValues reads states: their first values, by value.
func readStateValues(n *yaml.Node, what string, value func(*yaml.Node) (any, error)) (states map[string]any, err error) {
	if _, err = mapping(n, what); err != nil {
		return nil, err
	}
	states = make(map[string]any, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		name, v := n.Content[i].Value, n.Content[i+1]
		if states[name], err = value(v); err != nil {
			return nil, err
		}
		if _, err := policy.StatesOf(map[string]any{name: states[name]}); err != nil {
			return nil, lineError(v, "%v", err)
		}
	}
	return states, nil
}

// stateValue reads a bool, an int64, a float64, or a time.Duration written as a string.
func stateValue(n *yaml.Node) (any, error) {
	if err := leadingZero(n); err != nil {
		return nil, err
	}
	if n.Kind == yaml.ScalarNode {
		switch n.ShortTag() {
		case "!!bool":
			var b bool
			err := readBool(n, &b)
			return b, err
		case "!!int":
			var i int64
			err := readInt(n, &i)
			return i, err
		case "!!float":
			var f float64
			if !strings.ContainsAny(n.Value, ".eE") { // YAML resolves it to a float
				return nil, lineError(n, "the number %s is too large", n.Value)
			}
			err := n.Decode(&f)
			return f, err
		case "!!str":
			if d, err := time.ParseDuration(n.Value); err == nil && hasUnit(n.Value) {
				return d, nil
			}
			if _, err := strconv.ParseFloat(n.Value, 64); err == nil {
				return nil, lineError(n, "a state is %s; write the number without quotes, or a duration like 100ms", nodeKind(n))
			}
		}
	}
	return nil, lineError(n, "a state is %s; want true or false, a number, or a duration like 100ms", nodeKind(n))
}
