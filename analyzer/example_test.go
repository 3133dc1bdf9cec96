package analyzer_test

import (
	"fmt"
	"log"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/policy"
)

// Verify bounds the cost of a policy and warns of what its author cannot have meant. It refuses a
// policy that could fail.
func ExampleVerify() {
	for _, text := range []string{
		`queue.length > 100 ? throw("busy") : continue()`,
		`queue.length >= 0 ? throw("busy") : continue()`,
		`1000 / queue.length > 10 ? throw("busy") : continue()`,
	} {
		program, err := policy.Spec{Name: "shed", On: policy.Every(1e6), Expr: text}.Parse(nil, nil)
		if err != nil {
			log.Fatal(err)
		}
		verified, err := analyzer.Verify(program, analyzer.Limits{})
		if err != nil {
			fmt.Println("refused:", err)
			continue
		}
		fmt.Println("at most", verified.Cost(), "steps;", verified.Warnings())
	}
	// Output:
	// at most 5 steps; []
	// at most 5 steps; [policy.expr:1:1: queue.length >= 0 is always true: queue.length is 0 or more here]
	// refused: policy.expr:1:1: division by zero: queue.length may be 0 here; guard it: queue.length != 0 ? ... : ...
}
