package policy_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// A Spec is validated and parsed when it is registered. Parse does both, without a runtime.
func Example() {
	_, err := policy.Spec{Name: "shed", On: policy.On(stubs.Enqueue), Expr: `queue.lenght > 100 ? throw("busy") : continue()`}.Parse(nil, nil)
	var refused *policy.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Reason)
		fmt.Println(refused.Hint)
	}
	// Output:
	// there is no state stub queue.lenght
	// did you mean queue.length?
}

// AdaptiveQuantum is one of the ready-made policies. A program registers it like a policy of its
// own.
func ExampleAdaptiveQuantum() {
	turns, err := policy.AdaptiveQuantum(100*time.Microsecond, 10*time.Millisecond)
	fmt.Println(turns.Name, err)
	_, err = policy.AdaptiveQuantum(10*time.Millisecond, time.Millisecond)
	fmt.Println(err)
	// Output:
	// round-robin <nil>
	// adaptive quantum: the long quantum 1ms is not between 10ms and 1s
}
