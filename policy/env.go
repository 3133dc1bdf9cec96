package policy

import "github.com/cocoon-go/cocoon/stubs"

// Env is what a policy's text may refer to beyond the catalogue of stubs. Parse does not keep it,
// nor change it.
type Env struct {
	On     stubs.Event           // the notifications on which the policy is evaluated, see Trigger.Set
	States map[string]stubs.Type // registered and private states, by name; of buckets Float
	Tables map[string]Table      // those of them that are keyed, or token buckets
	Funcs  map[string]bool       // functions registered as safe, by name
}

// Table is what a policy has to know of a state that is keyed or a token bucket.
type Table struct {
	Keyed bool
	Burst float64 // what a bucket holds; 0: it is none
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
	if t := (Table{Keyed: s.Keys > 0, Burst: s.Bucket.Burst}); t != (Table{}) {
		e.Tables[name] = t
	}
}
