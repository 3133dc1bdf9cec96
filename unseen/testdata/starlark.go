package starlark_test

import (
	"context"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

func init() {
	const script = `
def table(n):
    d = {}
    for i in range(n):
        d["k%d" % (i * 7919 % n)] = [x * x for x in range(i % 20)]
    return d
answer = len(sorted(table(5000).keys())) + sum([len(v) for v in table(3000).values()])
`
	victim.Run(func(context.Context) (any, error) {
		options := &syntax.FileOptions{GlobalReassign: true}
		sum := starlark.NewBuiltin("sum", func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			total := starlark.MakeInt(0)
			for v := range starlark.Elements(args[0].(*starlark.List)) {
				total = total.Add(v.(starlark.Int))
			}
			return total, nil
		})
		globals, err := starlark.ExecFileOptions(options, &starlark.Thread{}, "unseen.star", script, starlark.StringDict{"sum": sum})
		return globals["answer"], err
	})
}
