package policy

import "github.com/cocoon-go/cocoon/stubs"

// Env is what a policy's text may refer to beyond the catalogue of stubs. Parse does not keep it,
// nor change it.
type Env struct {
	On     stubs.Event           // the notifications on which the policy is evaluated, see Trigger.Set
	States map[string]stubs.Type // registered and private states, by name
	Funcs  map[string]bool       // functions registered as safe, by name
}
