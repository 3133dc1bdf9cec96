// A main package that imports another one which may register, and one that loads a document.
package main

import (
	"time"

	"github.com/cocoon-go/cocoon/cocoon"

	"policylib"
)

func main() {
	rt, _ := cocoon.New(cocoon.Config{})
	err := policylib.Register(rt, cocoon.OnStart)
	_, err = rt.RegisterPolicy(cocoon.Policy{Name: "a", On: cocoon.Every(time.Second),
		Expr: `state.overloaded ? call("Alarm") : continue()`})
	_ = err
}
