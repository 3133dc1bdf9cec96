package policy

import "github.com/cocoon-go/cocoon/stubs"

// Env lists the names that a policy's text may refer to in addition to the catalogue of stubs.
// Parse neither keeps nor changes it.
type Env struct {
	// the notifications on which the policy is evaluated, see Trigger.Set
	On     stubs.Event
	States map[string]stubs.Type // the types of registered and private states; a bucket is a Float
	Tables map[string]Table      // the keyed states and the token buckets among States
	Funcs  map[string]bool       // the functions registered as safe
}

// Table describes a keyed state or a token bucket.
type Table struct {
	Keyed bool
	By    KeyTypes // of its keys
	Burst float64  // the capacity of a bucket; 0 if it is not a bucket
}

// Declare adds a state.
func (e *Env) Declare(name string, s State) {
	if e.States == nil {
		e.States = map[string]stubs.Type{}
	}
	if e.Tables == nil {
		e.Tables = map[string]Table{}
	}
	e.States[name] = s.Type
	delete(e.Tables, name)
	if t := (Table{Keyed: s.Keys > 0, By: s.By, Burst: s.Bucket.Burst}); t != (Table{}) {
		e.Tables[name] = t
	}
}
