// Command cocoonvet checks Go code that uses Cocoon: cocoonvet ./..., or go vet -vettool=$(which
// cocoonvet) ./... Run cocoonvet help for the checkers, and cocoonvet help NAME for one of them.
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/cocoon-go/cocoon/analyzer/vet"
)

func main() { multichecker.Main(vet.Analyzers...) }
