package goja_test

import (
	"context"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/dop251/goja"
)

func init() {
	const script = `
		function fib(n) { return n < 2 ? n : fib(n-1) + fib(n-2) }
		var words = [];
		for (var i = 0; i < 5000; i++) words.push("w" + (i*7919%5000));
		words.sort();
		try { fib(17) } finally { words.push("end") }
		JSON.stringify(words).replace(/w(\d)/g, "$1").length + "," + words[17]`
	victim.Run(func(context.Context) (any, error) { return goja.New().RunString(script) })
}
