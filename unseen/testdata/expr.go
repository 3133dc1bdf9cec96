package expr_test

import (
	"context"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/expr-lang/expr"
)

func init() {
	const text = `len(filter(1..200, {let x = #; any(1..200, {# == x * 2})})) + len(join(sort(map(1..1000, {string(# * 7919 % 1000)})), " "))`
	victim.Run(func(context.Context) (any, error) {
		program, err := expr.Compile(text)
		if err != nil {
			return nil, err
		}
		return expr.Run(program, nil)
	})
}
