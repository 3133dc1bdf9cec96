package lang

import (
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// Env lists the names that a policy's text may refer to in addition to the catalogue of stubs.
// Parse neither keeps nor changes it.
type Env struct {
	// the notifications on which the policy is evaluated, see policy.Trigger.Set
	On     stubs.Event
	States map[string]stubs.Type // the types of registered and private states; a bucket is a Float
	Tables map[string]Table      // the keyed states and the token buckets among States
	Funcs  map[string]bool       // the functions registered as safe
}

// Table describes a keyed state or a token bucket.
type Table struct {
	Keyed bool
	By    ir.KeyTypes // of its keys
	Burst float64     // the capacity of a bucket; 0 if it is not a bucket
}

// Declare adds a state of the type t; table is zero unless it has keys or is a bucket.
func (e *Env) Declare(name string, t stubs.Type, table Table) {
	if e.States == nil {
		e.States = map[string]stubs.Type{}
	}
	if e.Tables == nil {
		e.Tables = map[string]Table{}
	}
	e.States[name] = t
	delete(e.Tables, name)
	if table != (Table{}) {
		e.Tables[name] = table
	}
}
