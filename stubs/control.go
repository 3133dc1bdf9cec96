package stubs

// Decision is the kind of a verdict.
type Decision uint8

const (
	Continue Decision = iota // leave the task alone
	Throw                    // unwind the task with a PreemptedError
	Switch                   // suspend the task at its next safe point
)

func (d Decision) String() string {
	return [...]string{"continue", "throw", "switch"}[d]
}

// Effect is what a policy may do beside its verdict. Effects are carried out by the runtime after
// the evaluation, in the order of the policy's text, and only when the evaluation ended well.
type Effect uint8

const (
	Set        Effect = iota // write a state
	Call                     // call a function registered as safe
	Interval                 // change the policy's own interval
	Cancel                   // cancel the policy itself
	Rank                     // give the arriving task its place in the queue; on Enqueue only
	Background               // make the arriving task one of the background, on Enqueue; else the task
	Add                      // add to a state
	Max                      // raise a state to a value, if it is below
	Min                      // lower a state to a value, if it is above
	Take                     // take tokens out of a bucket, if they are there
)

func (e Effect) String() string {
	return [...]string{"set", "call", "interval", "cancel", "rank", "background", "add", "max", "min", "take"}[e]
}

// Writes reports whether the effect is on a state.
func (e Effect) Writes() bool { return e == Set || e >= Add }

// MaxSites bounds the effects written in one policy: which of them fired is one word of bits.
const MaxSites = 64

// Outcome is what one evaluation of a policy says. The zero Outcome is "continue, no effects".
type Outcome struct {
	Decision Decision
	Reason   int      // for Throw: index into the program's reasons
	Retry    int64    // for Throw: ns after which the caller may try again; not positive: it says nothing
	Fired    uint64   // bit i: effect site i was executed
	Values   []uint64 // word i: the operand of site i, where it fired; owned by the evaluator until its next evaluation
}
