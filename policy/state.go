package policy

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

// PerLoop declares, in Spec.State, a private state that each loop has separately. Other private
// states are shared by all loops of a runtime.
type PerLoop struct{ First any } // its first value, or a Bucket or Keyed

// Keyed declares a state with a value for each key: state.NAME[tenant.name]. A missing key has the
// first value. A state takes at most 56 bytes a key.
type Keyed struct {
	First any           // of each key: a first value, or a Bucket; nil is 0
	Keys  int           // the greatest number of keys; a new key evicts the least recently used
	TTL   time.Duration // the lifetime of a key after its last write; 0: until evicted
	By    []string      // the types of a key's parts, "name" or "int", at most two; nil is one name
}

// Bucket declares a token bucket, from which policies take(). It starts full.
type Bucket struct {
	Rate  float64 // tokens added per second
	Burst float64 // capacity, in tokens
}

// Bounds of declarations.
const (
	MaxKeys  = 1_000_000
	MaxBurst = 1e12 // of a bucket's Burst and Rate
)

// String returns "{first: 5, per: loop}", as in documents.
func (p PerLoop) String() string { return "{" + keysOf(p.First) + ", per: loop}" }

// String returns "{first: 0s, keys: 10000, ttl: 10m0s}", as in documents.
func (k Keyed) String() string {
	s := fmt.Sprintf("{%s, keys: %d", keysOf(k.first()), k.Keys)
	if k.TTL > 0 {
		s += fmt.Sprintf(", ttl: %v", k.TTL)
	}
	switch len(k.By) {
	case 0:
	case 1:
		s += ", by: " + k.By[0]
	default:
		s += ", by: [" + strings.Join(k.By, ", ") + "]"
	}
	return s + "}"
}

// String returns "{rate: 10, burst: 5}", as in documents.
func (b Bucket) String() string { return fmt.Sprintf("{rate: %v, burst: %v}", b.Rate, b.Burst) }

// keysOf writes the keys and values of a declaration, without braces.
func keysOf(declared any) string {
	switch declared.(type) {
	case Bucket, Keyed:
		return strings.Trim(fmt.Sprint(declared), "{}")
	}
	return fmt.Sprintf("first: %v", declared)
}

func (k Keyed) first() any {
	if k.First == nil {
		return 0
	}
	return k.First
}

// State is a declaration of a state.
type State struct {
	Type    stubs.Type
	First   uint64 // the word of its first value; of a bucket, its capacity
	PerLoop bool
	Keys    int // the greatest number of keys; 0: not keyed
	By      ir.KeyTypes
	TTL     time.Duration
	Bucket  Bucket // the zero Bucket: not a bucket
}

// Parameter reports whether the state may be meant as a constant, which nothing writes: it has one
// value, and begins with another one than 0 or false.
func (s State) Parameter() bool { return s.Keys == 0 && !s.IsBucket() && s.First != 0 }

// IsBucket reports whether the state is a token bucket, or one for each key.
func (s State) IsBucket() bool { return s.Bucket.Burst > 0 }

// Table returns what the language needs to know of a state that has keys or is a bucket; it is zero
// for other states.
func (s State) Table() lang.Table {
	return lang.Table{Keyed: s.Keys > 0, By: s.By, Burst: s.Bucket.Burst}
}

// Kind describes the state's kind for messages: "int", "duration by key", "bucket by name and int".
func (s State) Kind() string {
	kind := s.Type.String()
	if s.IsBucket() {
		kind = "bucket"
	}
	switch {
	case s.Keys == 0:
	case s.By == ir.OneName:
		kind += " by key"
	default:
		kind += " by " + s.By.String()
	}
	return kind
}

// SameKind reports whether policies written for one state also work with the other. A reload then
// keeps the state.
func (s State) SameKind(other State) bool { return s.Kind() == other.Kind() }

// Begins reports whether a reload that changes the declaration from was to s resets the state to
// its first value, or removes all its keys. A bucket keeps its tokens.
func (s State) Begins(was State) bool {
	return !s.SameKind(was) || s.Keys != was.Keys || s.First != was.First && !s.IsBucket()
}

// StateOf reads a declaration: a bool, int, int64, float64, time.Duration or Bucket; a Keyed of one
// of these; or a PerLoop of any of them.
func StateOf(declared any) (s State, err error) {
	if p, ok := declared.(PerLoop); ok {
		s.PerLoop, declared = true, p.First
	}
	if k, ok := declared.(Keyed); ok {
		if k.Keys < 1 || k.Keys > MaxKeys {
			return s, fmt.Errorf("keeps 1 to %d keys, and not %d", MaxKeys, k.Keys)
		}
		if k.TTL < 0 {
			return s, fmt.Errorf("has the time to live %v; want none, or more than 0", k.TTL)
		}
		if s.By, err = ir.KeyTypesOf(k.By); err != nil {
			return s, err
		}
		s.Keys, s.TTL, declared = k.Keys, k.TTL, k.first()
	}
	switch v := declared.(type) {
	case Bucket:
		s.Bucket = v
		s.Type, s.First = stubs.Float, math.Float64bits(v.Burst)
		if err := v.validate(); err != nil {
			return s, err
		}
		// A forgotten key has a full bucket again.
		if fills := v.Burst / v.Rate; s.TTL > 0 && s.TTL.Seconds() < fills {
			return s, fmt.Errorf("has the time to live %v, and a bucket takes %.4gs to fill; want that at least, or a key gets more than its rate", s.TTL, fills)
		}
		return s, nil
	case bool, int, int64, time.Duration:
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return s, fmt.Errorf("is %v; want a finite number", v)
		}
	default:
		return s, fmt.Errorf("has the Go type %T; want bool, int, int64, float64, time.Duration, Bucket or Keyed", declared)
	}
	s.First, s.Type, err = stubs.Word(declared)
	return s, err
}

// StatesOf reads declarations of states, as StateOf does, and checks their names.
func StatesOf(declared map[string]any) (map[string]State, error) {
	states := make(map[string]State, len(declared))
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if !isIdentifier(name) {
			return nil, fmt.Errorf("state %q: %s", name, namesOfStates)
		}
		s, err := StateOf(declared[name])
		if err != nil {
			return nil, fmt.Errorf("state %q %w", name, err)
		}
		states[name] = s
	}
	return states, nil
}

const namesOfStates = "a name has letters, digits and '_' only, and no digit first"

func (b Bucket) validate() error {
	for _, n := range []struct {
		what  string
		value float64
	}{{"rate", b.Rate}, {"burst", b.Burst}} {
		if !(n.value > 0 && n.value <= MaxBurst) {
			return fmt.Errorf("has the %s %v; want more than 0 tokens, and at most %g", n.what, n.value, float64(MaxBurst))
		}
	}
	return nil
}
