// Command cocoonvet checks Go code that uses Cocoon: cocoonvet ./..., or go vet -vettool=$(which
// cocoonvet) ./... Run cocoonvet help for the checkers, and cocoonvet help NAME for one of them.
package main

import (
	"log"
	"os"

	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/cocoon-go/cocoon/analyzer/vet"
)

func main() {
	// go vet passes the file of a package as the last argument.
	if done, err := withoutFacts(os.Args[len(os.Args)-1]); err != nil {
		log.Fatal(err)
	} else if done {
		return
	}
	multichecker.Main(vet.Analyzers...)
}
