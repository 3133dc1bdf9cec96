package document

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

// readGiven reads values of stubs, by path: queue.length: 3, task.labels: {tenant: gold}, state.n:
// 1. It refuses a value that no server can produce.
func readGiven(n *yaml.Node) (map[string]Placed, error) {
	if _, err := mapping(n, "given"); err != nil {
		return nil, err
	}
	given := map[string]Placed{}
	for i := 0; i < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if strings.HasPrefix(k.Value, "state.") {
			value, err := stateOrKeys(v)
			if err != nil {
				return nil, err
			}
			given[k.Value] = placed(k, value)
			continue
		}
		if k.Value == "rate" || k.Value == "average" {
			if err := readGivenTrends(k.Value, v, given); err != nil {
				return nil, err
			}
			continue
		}
		stub, ok := stubs.Lookup(k.Value)
		if !ok {
			return nil, lineError(k, "there is no state stub %s; %s", k.Value, givenHint(k.Value))
		}
		if stub.ID == stubs.EventName {
			return nil, lineError(k, "%s is the name of the event; write event: NAME", k.Value)
		}
		if err := readGivenStub(v, stub, given); err != nil {
			return nil, err
		}
	}
	return given, nil
}

// stateOrKeys reads the value of a state or, for a keyed state, the values of some keys, as a
// map[string]any; if its keys are pairs, a map for each first part.
func stateOrKeys(n *yaml.Node) (any, error) {
	if n.Kind != yaml.MappingNode {
		return knownStateValue(n)
	}
	for i := 0; i < len(n.Content); i += 2 {
		if k := n.Content[i]; k.ShortTag() == "!!int" {
			k.Tag = "!!str"
		}
	}
	return readNamedValues(n, "the values by key", stateOrKeys)
}

// knownStateValue reads a value that a state can have: an infinity, but not NaN.
func knownStateValue(n *yaml.Node) (any, error) {
	v, err := stateValue(n)
	if f, ok := v.(float64); ok && math.IsNaN(f) {
		return nil, lineError(n, "no state is NaN, because giving it that value is an error of the evaluation; want a number")
	}
	return v, err
}

// givenHint guesses the intended path.
func givenHint(path string) string {
	group, field, _ := strings.Cut(path, ".")
	if base, key, ok := strings.Cut(field, "."); ok {
		if s, known := stubs.Lookup(group + "." + base); known && s.Keyed {
			return fmt.Sprintf("write %s: {%s: ...}", s.Path, key)
		}
	}
	if lang.Groups[group] == nil {
		return "write it as a policy does, as in queue.length or state.NAME"
	}
	return lang.StubHint(group, field)
}

// readGivenStub reads the value of a stub or, for a keyed stub, the values of its keys.
func readGivenStub(n *yaml.Node, stub *stubs.Stub, given map[string]Placed) error {
	if !stub.Keyed && !stub.Quantile {
		v, err := stubValue(n, stub)
		given[stub.Path] = placed(n, v)
		return err
	}
	for i := 0; stub.Quantile && i < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
		if k := n.Content[i]; k.ShortTag() == "!!float" || k.ShortTag() == "!!int" {
			k.Tag = "!!str" // an unquoted key is as good as a quoted one
		}
	}
	if _, err := mapping(n, stub.Path); err != nil {
		return err
	}
	for i := 0; i < len(n.Content); i += 2 {
		v, err := stubValue(n.Content[i+1], stub)
		if err != nil {
			return err
		}
		r := ir.Read{Stub: stub.ID, Key: n.Content[i].Value}
		if stub.Quantile {
			if r, err = givenQuantile(n.Content[i], stub); err != nil {
				return err
			}
		}
		if _, twice := given[r.String()]; twice {
			return lineError(n.Content[i], "%v is given twice", r)
		}
		given[r.String()] = placed(n.Content[i], v)
	}
	return nil
}

// givenQuantile reads the key of a quantile: 0.99 or, with a window other than the default, 0.99,
// 30s.
func givenQuantile(n *yaml.Node, stub *stubs.Stub) (ir.Read, error) {
	text, window, has := strings.Cut(n.Value, ",")
	r := ir.Read{Stub: stub.ID, Window: ir.DefaultWindow}
	var err error
	if r.Quantile, err = strconv.ParseFloat(strings.TrimSpace(text), 64); err != nil || !lang.ValidQuantile(r.Quantile) {
		return r, lineError(n, "%q is not a quantile; write %s: {0.99: 20ms}", text, stub.Path)
	}
	if has {
		r.Window, err = givenWindow(n, window)
	}
	return r, err
}

func givenWindow(n *yaml.Node, text string) (time.Duration, error) {
	d, err := lang.ParseDuration(strings.TrimSpace(text))
	if err != nil || !lang.ValidWindow(time.Duration(d)) {
		return 0, lineError(n, "%q is not a window between %v and %v", strings.TrimSpace(text), ir.MinWindow, ir.MaxWindow)
	}
	return time.Duration(d), nil
}

// readGivenTrends reads rates or averages of states, by the name and the window, as in rate:
// {"served, 5m": 2.5}.
func readGivenTrends(what string, n *yaml.Node, given map[string]Placed) error {
	if _, err := mapping(n, what); err != nil {
		return err
	}
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		name, text, has := strings.Cut(k.Value, ",")
		if !has {
			return lineError(k, "%q has no window; write %s: {%q: ...}", k.Value, what, name+", 10s")
		}
		window, err := givenWindow(k, text)
		if err != nil {
			return err
		}
		v, err := stateValue(n.Content[i+1])
		if whole, ok := v.(int64); ok {
			v = float64(whole)
		}
		_, isDuration := v.(time.Duration)
		f, isFloat := v.(float64)
		if err != nil || !isFloat && (!isDuration || what == "rate") || math.IsNaN(f) && what == "average" {
			return lineError(n.Content[i+1], "%s stands where a number is wanted", nodeKind(n.Content[i+1]))
		}
		r := ir.Read{Stub: stubs.StateRate, Key: name, Window: window}
		if what == "average" {
			r.Stub = stubs.StateAverage
		}
		given[r.String()] = placed(n.Content[i], v)
	}
	return nil
}
