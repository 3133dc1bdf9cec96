package policy

import (
	"fmt"
	"math"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/cocoon-go/cocoon/stubs"
)

// readGiven reads values of stubs, by path: queue.length: 3, task.labels: {tenant: gold}, state.n:
// 1. A value that a server could not show is refused.
func readGiven(n *yaml.Node) (map[string]any, error) {
	if _, err := mapping(n, "given"); err != nil {
		return nil, err
	}
	given := map[string]any{}
	for i := 0; i < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if strings.HasPrefix(k.Value, "state.") {
			value, err := stateOrKeys(v)
			if err != nil {
				return nil, err
			}
			given[k.Value] = value
			continue
		}
		stub, ok := stubs.Lookup(k.Value)
		if !ok {
			return nil, lineError(k, "there is no state stub %s; %s", k.Value, givenHint(k.Value))
		}
		if err := readGivenStub(v, stub, given); err != nil {
			return nil, err
		}
	}
	return given, nil
}

// stateOrKeys reads the value of a state or, of a keyed one, those of some keys, as a
// map[string]any.
func stateOrKeys(n *yaml.Node) (any, error) {
	if n.Kind != yaml.MappingNode {
		return stateValue(n)
	}
	return readNamedValues(n, "the values by key", stateValue)
}

// givenHint says what was meant by a path.
func givenHint(path string) string {
	group, field, _ := strings.Cut(path, ".")
	if base, key, ok := strings.Cut(field, "."); ok {
		if s, known := stubs.Lookup(group + "." + base); known && s.Keyed {
			return fmt.Sprintf("write %s: {%s: ...}", s.Path, key)
		}
	}
	if groups[group] == nil {
		return "write it as a policy does, as in queue.length or state.NAME"
	}
	return stubHint(group, field)
}

// readGivenStub reads the value of a stub or, of a keyed one, those of its keys.
func readGivenStub(n *yaml.Node, stub *stubs.Stub, given map[string]any) error {
	if !stub.Keyed {
		v, err := stubValue(n, stub)
		given[stub.Path] = v
		return err
	}
	if _, err := mapping(n, stub.Path); err != nil {
		return err
	}
	for i := 0; i < len(n.Content); i += 2 {
		v, err := stubValue(n.Content[i+1], stub)
		if err != nil {
			return err
		}
		given[fmt.Sprintf("%s[%q]", stub.Path, n.Content[i].Value)] = v
	}
	return nil
}

// stubValue reads a value of the stub's type, within its range.
func stubValue(n *yaml.Node, stub *stubs.Stub) (any, error) {
	outside := func(v, least, most any) error {
		return lineError(n, "%s is %v to %v, and this is %v", stub.Path, least, most, v)
	}
	switch stub.Type {
	case stubs.Bool:
		var b bool
		err := readBool(n, &b)
		return b, err
	case stubs.Int:
		var i int64
		if err := readInt(n, &i); err != nil {
			return nil, err
		}
		if i < stub.Min || i > stub.Max {
			return nil, outside(i, stub.Min, stub.Max)
		}
		return i, nil
	case stubs.Bytes:
		size, err := parseSize(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil {
			return nil, lineError(n, "%s stands where a size is wanted; write it like 64MiB", nodeKind(n))
		}
		return size, nil
	case stubs.Float:
		v, err := stateValue(n)
		if i, ok := v.(int64); ok {
			v = float64(i)
		}
		f, ok := v.(float64)
		if err != nil || !ok || math.IsNaN(f) {
			return nil, lineError(n, "%s stands where a number is wanted", nodeKind(n))
		}
		if f < float64(stub.Min) || f > float64(stub.Max) {
			return nil, outside(f, stub.Min, stub.Max)
		}
		return f, nil
	case stubs.Duration:
		var d time.Duration
		if err := readDuration(n, &d); err != nil {
			return nil, err
		}
		if int64(d) < stub.Min || int64(d) > stub.Max {
			return nil, outside(d, time.Duration(stub.Min), time.Duration(stub.Max))
		}
		return d, nil
	case stubs.NameList:
		var names []string
		err := readStrings(n, stub.Path, &names)
		if err == nil && len(names) > int(stub.Max) {
			err = lineError(n, "%s has at most %d names, and these are %d", stub.Path, stub.Max, len(names))
		}
		return names, err
	}
	var name string
	if err := readString(n, &name); err != nil {
		return nil, err
	}
	if stub.Enum && !knownKind(name) {
		return nil, lineError(n, "there is no kind %q; want %s", name, kindNames)
	}
	return name, nil
}
