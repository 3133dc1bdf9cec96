package stubs_test

import (
	"fmt"

	"github.com/cocoon-go/cocoon/stubs"
)

// The catalogue describes each value that a policy can read.
func ExampleLookup() {
	stub, ok := stubs.Lookup("queue.length")
	fmt.Println(stub.Path, "is an", stub.Type, ok)
	fmt.Println(stub.Doc)
	_, ok = stubs.Lookup("queue.lenght")
	fmt.Println(ok)
	// Output:
	// queue.length is an int true
	// tasks of the loop that wait for a slot, the arriving one included
	// false
}
