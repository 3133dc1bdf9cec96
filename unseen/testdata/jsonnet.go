package jsonnet_test

import (
	"context"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/google/go-jsonnet"
)

func init() {
	const script = `
local fib(n) = if n < 2 then n else fib(n - 1) + fib(n - 2);
{
  fib: fib(12),
  words: std.length(std.join(' ', std.sort([std.toString(i * 7919 % 500) for i in std.range(0, 499)]))),
  squares: std.foldl(function(a, b) a + b, [x * x for x in std.range(1, 500)], 0),
}`
	victim.Run(func(context.Context) (any, error) {
		return jsonnet.MakeVM().EvaluateAnonymousSnippet("unseen.jsonnet", script)
	})
}
