package document

import (
	"regexp"
	"strconv"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy"
)

// registeredState reads a first value, or {first: VALUE, keys: 1000, ttl: 10m, by: name}, or a
// token bucket, {rate: 10, burst: 5}.
func registeredState(n *yaml.Node) (any, error) {
	v, err := privateState(n)
	if _, perLoop := v.(policy.PerLoop); perLoop {
		err = lineError(n, "a registered state is one for all loops; only a private state of a policy can be one of each loop")
	}
	return v, err
}

// privateState reads the same forms, and per: loop.
func privateState(n *yaml.Node) (any, error) {
	if n.Kind != yaml.MappingNode {
		return stateValue(n)
	}
	d := stateDeclaration{per: "runtime"}
	err := decodeMap(n, "a state", []key{
		{name: "first", read: func(n *yaml.Node) (err error) { d.first, err = stateValue(n); return err }},
		{name: "rate", read: func(n *yaml.Node) error { d.rate = new(float64); return readRate(n, d.rate) }},
		{name: "burst", read: func(n *yaml.Node) error { d.burst = new(float64); return readTokens(n, d.burst) }},
		{name: "keys", read: func(n *yaml.Node) error { d.keys = new(int64); return readInt(n, d.keys) }},
		{name: "ttl", read: func(n *yaml.Node) error { d.ttl = new(time.Duration); return readTTL(n, d.ttl) }},
		{name: "by", read: func(n *yaml.Node) error { return readKeyTypes(n, &d.by) }},
		{name: "per", read: func(n *yaml.Node) error { return readString(n, &d.per) }},
	})
	if err != nil {
		return nil, err
	}
	return d.value(n)
}

// stateDeclaration collects the keys of a state's mapping.
type stateDeclaration struct {
	first       any // nil: it is a bucket
	rate, burst *float64
	keys        *int64
	ttl         *time.Duration
	by          []string
	per         string
}

// value returns the complete declaration.
func (d *stateDeclaration) value(n *yaml.Node) (v any, err error) {
	switch bucket := d.rate != nil || d.burst != nil; {
	case bucket && d.first != nil:
		return nil, lineError(n, "a token bucket is full at first; remove first, or rate and burst")
	case bucket && (d.rate == nil || d.burst == nil):
		return nil, lineError(n, "a token bucket needs rate and burst: the tokens added per second, and its capacity")
	case d.keys != nil && (*d.keys < 1 || *d.keys > policy.MaxKeys): // it may not fit an int
		return nil, lineError(n, "a state keeps 1 to %d keys, and not %d", policy.MaxKeys, *d.keys)
	case !bucket && d.first == nil:
		return nil, lineError(n, "a state needs the key first, its first value; or rate and burst, as a token bucket")
	case d.ttl != nil && d.keys == nil:
		return nil, lineError(n, "ttl is how long a key is kept; say how many by keys")
	case d.by != nil && d.keys == nil:
		return nil, lineError(n, "by is the type of the keys; say how many by keys")
	case bucket:
		v = policy.Bucket{Rate: *d.rate, Burst: *d.burst}
	default:
		v = d.first
	}
	if d.keys != nil {
		k := policy.Keyed{First: v, Keys: int(*d.keys), By: d.by}
		if d.ttl != nil {
			k.TTL = *d.ttl
		}
		v = k
	}
	switch d.per {
	case "loop":
		v = policy.PerLoop{First: v}
	case "runtime":
	default:
		err = lineError(n, "a state is not per %q; write loop, or runtime", d.per)
	}
	return v, err
}

// perUnit is a rate with its unit of time, which documents leave out.
var perUnit = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) *(?:/|per) *(s|m|h)`)

// readRate reads a number of tokens per second.
func readRate(n *yaml.Node, to *float64) error {
	m := perUnit.FindStringSubmatch(n.Value)
	if m == nil || n.ShortTag() != "!!str" {
		return readTokens(n, to)
	}
	tokens, _ := strconv.ParseFloat(m[1], 64)
	unit, _ := time.ParseDuration("1" + m[2])
	return lineError(n, "a rate is a number of tokens per second; write rate: %.4g for %s", tokens/unit.Seconds(), n.Value)
}

// readTokens reads a number of tokens, whole or fractional. policy.StateOf checks its bounds.
func readTokens(n *yaml.Node, to *float64) error {
	v, err := stateValue(n)
	switch v := v.(type) {
	case int64:
		*to = float64(v)
		return nil
	case float64:
		*to = v
		return nil
	}
	if err == nil || n.ShortTag() == "!!str" || n.Kind != yaml.ScalarNode {
		err = lineError(n, "%s stands where a number of tokens is wanted", nodeKind(n))
	}
	return err
}

func readTTL(n *yaml.Node, to *time.Duration) error {
	if err := readDuration(n, to); err != nil {
		return err
	}
	if *to <= 0 {
		return lineError(n, "the time to live %v is not positive; leave it out to keep keys as long as there is room", *to)
	}
	return nil
}

// readKeyTypes reads the types of a key's parts, one or a list.
func readKeyTypes(n *yaml.Node, to *[]string) error {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	*to = make([]string, len(items))
	for i, item := range items {
		if err := readString(item, &(*to)[i]); err != nil {
			return err
		}
	}
	if _, err := ir.KeyTypesOf(*to); err != nil {
		return lineError(n, "a state %v", err)
	}
	return nil
}
