package ir

import "github.com/cocoon-go/cocoon/stubs"

// Outcome is the result of one evaluation of a policy. The zero Outcome is "continue, no effects".
type Outcome struct {
	Decision stubs.Decision
	Reason   int      // for Throw: index into the program's reasons
	Retry    int64    // for Throw: ns after which the caller may retry; 0 or less: not given
	Fired    uint64   // bit i: effect site i was executed
	Values   []uint64 // word i: the operand of site i, if it fired; valid until the next evaluation
}
