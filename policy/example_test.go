package policy_test

import (
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/policy"
)

// ReadDocument checks the form of a document. Parse checks the expression of each of its policies.
func Example() {
	doc, err := policy.ReadDocument(strings.NewReader(`
version: 1
policies:
  - name: shed
    on: enqueue
    expr: 'queue.length > 100 ? throw("busy") : continue()'
  - name: misspelt
    on: enqueue
    expr: 'queue.length > "100" ? throw("busy") : continue()'
`))
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range doc.Policies {
		_, err := p.Parse(nil, nil)
		fmt.Println(p.Name+":", err)
	}
	// Output:
	// shed: <nil>
	// misspelt: policy "misspelt": policy.expr:1:1: queue.length is a count and "100" is a string
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
