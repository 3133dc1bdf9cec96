package policytest_test

import (
	"fmt"
	"log"

	"github.com/cocoon-go/cocoon/policytest"
)

// File runs the tests of a document of the cookbook. In a Go test, call Run instead.
func ExampleFile() {
	report, err := policytest.File("../docs/cookbook/runaway_test.yaml", policytest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range report.Results {
		fmt.Println(r.Name)
	}
	fmt.Println("failed:", report.Failed(), "- coverage:", report.Coverage)
	// Output:
	// a query that runs away is killed, and the next one of its kind is refused for a while
	// queries without a digest are not watched
	// a long report goes on in the background
	// failed: false - coverage: 8 of 8 branches reached, 100.0 %
}
