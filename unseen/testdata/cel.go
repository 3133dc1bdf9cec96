package cel_test

import (
	"context"

	"cel.dev/cel-go/cel"
	"github.com/cocoon-go/cocoon/unseen/victim"
)

func init() {
	const expression = `numbers.filter(x, numbers.exists(y, y == x * 2)).map(x, string(x)).filter(s, s.matches("[13579]$")).size()`
	victim.Run(func(context.Context) (any, error) {
		env, err := cel.NewEnv(cel.Variable("numbers", cel.ListType(cel.IntType)))
		if err != nil {
			return nil, err
		}
		ast, issues := env.Compile(expression)
		if issues.Err() != nil {
			return nil, issues.Err()
		}
		program, err := env.Program(ast)
		if err != nil {
			return nil, err
		}
		numbers := make([]int, 300)
		for i := range numbers {
			numbers[i] = i
		}
		v, _, err := program.Eval(map[string]any{"numbers": numbers})
		if err != nil {
			return nil, err
		}
		return v.Value(), nil
	})
}
