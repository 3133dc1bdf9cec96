package safepoint_test

import (
	"fmt"

	"github.com/cocoon-go/cocoon/safepoint"
)

// A long loop polls. As long as no request is raised, a poll is a load and a branch.
func ExamplePoll() {
	sum := 0
	for i := range 1000 {
		sum += i
		safepoint.Poll()
	}
	fmt.Println(sum, safepoint.Raised())
	// Output:
	// 499500 false
}
