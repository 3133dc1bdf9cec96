package tengo_test

import (
	"context"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/d5/tengo/v2"
)

func init() {
	const script = `
		fib := func(n) { if n < 2 { return n }; return fib(n-1) + fib(n-2) }
		out := fib(20)
		list := []
		for i := 0; i < 20000; i++ { list = append(list, i*out) }
		out += len(list)`
	victim.Run(func(ctx context.Context) (any, error) {
		s, err := tengo.NewScript([]byte(script)).Run()
		if err != nil {
			return nil, err
		}
		return s.Get("out").Value(), nil
	})
}
