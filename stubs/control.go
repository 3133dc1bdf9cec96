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

// Effect is an action of a policy other than its verdict. The runtime carries out effects after the
// evaluation, in the order of the policy's text, and only if the evaluation ends without an error.
type Effect uint8

const (
	Set        Effect = iota // write a state
	Call                     // call a function registered as safe
	Interval                 // change the policy's own interval
	Cancel                   // cancel the policy itself
	Rank                     // give the arriving task its place in the queue; on Enqueue only
	Background               // move the arriving task (on Enqueue) or the task to the background
	Add                      // add to a state
	Max                      // raise a state to a value, if it is below
	Min                      // lower a state to a value, if it is above
	Take                     // take tokens from a bucket, if it has enough
)

func (e Effect) String() string {
	return [...]string{"set", "call", "interval", "cancel", "rank", "background", "add", "max", "min", "take"}[e]
}

// Writes reports whether the effect writes a state.
func (e Effect) Writes() bool { return e == Set || e >= Add }

// MaxSites is the greatest number of effects in a policy's text: one word of bits records which of
// them fired.
const MaxSites = 64
