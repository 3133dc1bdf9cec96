package vet_test

import (
	"fmt"
	"strings"

	"github.com/cocoon-go/cocoon/analyzer/vet"
)

// Any driver of go/analysis runs the analyzers, as multichecker.Main(vet.Analyzers...) does.
func Example() {
	for _, a := range vet.Analyzers {
		about, _, _ := strings.Cut(a.Doc, "\n")
		fmt.Println(a.Name+":", about)
	}
	// Output:
	// cocoonctx: report a task that uses another context than its own
	// cocoonerr: report errors of registrations that nobody looks at
	// cocoonlock: report safe points where a lock is held
	// cocoonpolicy: report policies that will be refused when they are registered
}
