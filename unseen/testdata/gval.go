package gval_test

import (
	"context"

	"github.com/PaesslerAG/gval"
	"github.com/cocoon-go/cocoon/unseen/victim"
)

func init() {
	victim.Run(func(ctx context.Context) (any, error) {
		sum := 0.0
		for i := range 500 {
			v, err := gval.EvaluateWithContext(ctx, `foo.bar[0] * 2 + (x > 3 ? x : 3) + (("a" + name) =~ "^a.*z$" ? 1 : y)`, map[string]any{
				"foo": map[string]any{"bar": []any{float64(i)}}, "x": i, "y": 2 * i, "name": "b",
			})
			if err != nil {
				return nil, err
			}
			sum += v.(float64)
		}
		return sum, nil
	})
}
