package document

import (
	"math"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

// stubValue reads a value of the stub's type, within its range.
func stubValue(n *yaml.Node, stub *stubs.Stub) (any, error) {
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
		return within(n, stub, i)
	case stubs.Bytes:
		size, err := lang.ParseSize(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil {
			return nil, lineError(n, "%s stands where a size is wanted; write it like 64MiB", nodeKind(n))
		}
		return size, nil
	case stubs.Float:
		return floatStub(n, stub)
	case stubs.Duration:
		var d time.Duration
		if err := readDuration(n, &d); err != nil {
			return nil, err
		}
		return within(n, stub, d)
	case stubs.NameList:
		var names []string
		err := readStrings(n, stub.Path, &names)
		if err == nil && len(names) > int(stub.Max) {
			err = lineError(n, "%s has at most %d names, and these are %d", stub.Path, stub.Max, len(names))
		}
		return names, err
	}
	var name string
	err := readString(n, &name)
	if err == nil && stub.Enum && !lang.KnownKind(name) {
		err = lineError(n, "there is no kind %q; want %s", name, lang.KindNames)
	}
	return name, err
}

func within[T int64 | time.Duration](n *yaml.Node, stub *stubs.Stub, v T) (any, error) {
	if least, most := T(stub.Min), T(stub.Max); v < least || v > most {
		return nil, outside(n, stub, v, least, most)
	}
	return v, nil
}

func outside(n *yaml.Node, stub *stubs.Stub, v, least, most any) error {
	return lineError(n, "%s is %v to %v, and this is %v", stub.Path, least, most, v)
}

// floatStub reads a float. For event.value it accepts NaN and infinities, as Notify does.
func floatStub(n *yaml.Node, stub *stubs.Stub) (any, error) {
	if err := leadingZero(n); err != nil {
		return nil, err
	}
	var f float64
	anyFloat := stub.ID == stubs.EventValue
	if tag := n.ShortTag(); tag != "!!float" && tag != "!!int" || n.Decode(&f) != nil || math.IsNaN(f) && !anyFloat {
		return nil, lineError(n, "%s stands where a number is wanted", nodeKind(n))
	}
	if !anyFloat && (f < float64(stub.Min) || f > float64(stub.Max)) {
		return nil, outside(n, stub, f, stub.Min, stub.Max)
	}
	return f, nil
}
