// Command hostile has the constructs that are hard to rewrite. Its output must not depend on being rewritten.
package main

import (
	"fmt"
	"os"

	"github.com/cocoon-go/cocoon/instrument/testdata/hostile/lined"
	"github.com/cocoon-go/cocoon/instrument/testdata/hostile/safepoint"
)

func main() {
	show := func(name string, f func() any) { fmt.Println(name, f()) }
	show("generics", generics)
	show("range over func", rangeOverFunc)
	show("labels", labels)
	show("goto", gotos)
	show("select", selects)
	show("closures in conditions", closures)
	show("defer in loops", defers)
	show("own counter", ownCounter)
	show("captured variables", captured)
	show("embedded", embedded)
	show("small integers", smallIntegers)
	show("pieces", pieces)
	show("range forms", rangeForms)
	show("recursion", recursion)
	show("locks", locks)
	show("traces", traces)
	show("a package named safepoint", func() any { return safepoint.Poll(3000) })
	show("line directives", lined.Where)
	show("init", func() any { return fromInit })
	show("methods", methods)
	show("one line", func() any {
		for i := 0; i < 3; i++ {
			if i == 2 {
				return i
			}
		}
		return -1
	})
	if len(os.Args) > 1 {
		select {}
	}
}

var fromInit = func() (sum int) {
	for i := range 5000 {
		sum += i
	}
	return sum
}()

func init() {
	for i := 0; fromInit < 20_000_000; i++ {
		fromInit += i
	}
}
