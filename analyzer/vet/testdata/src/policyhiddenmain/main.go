// A main package whose state is registered by another one.
package main

import (
	"github.com/cocoon-go/cocoon/cocoon"

	"policyhidden"
)

func main() {
	err := policyhidden.Init()
	_, err = cocoon.RegisterPolicy(cocoon.Policy{Name: "a", On: cocoon.OnStart, Expr: "state.hidden ? switch() : continue()"})
	_ = err
}
