package otto_test

import (
	"context"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/robertkrimen/otto"
)

func init() {
	const script = `
		function fib(n) { return n < 2 ? n : fib(n-1) + fib(n-2) }
		var out = [], n = 0;
		for (var i = 0; i < 500; i++) { try { out.push(i * 7919 % 500) } finally { n++ } }
		out.sort(function (a, b) { return a - b });
		out.join("-").length + n + fib(12)`
	victim.Run(func(context.Context) (any, error) {
		v, err := otto.New().Run(script)
		return v.String(), err
	})
}
