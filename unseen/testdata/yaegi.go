package interp_test

import (
	"context"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/traefik/yaegi/interp"
	"github.com/traefik/yaegi/stdlib"
)

func init() {
	const script = `
package main

import ("sort"; "strings")

func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }

func Answer() int {
	var words []string
	for i := 0; i < 1000; i++ { words = append(words, strings.Repeat("w", i*7919%50)) }
	sort.Strings(words)
	return fib(15) + len(strings.Join(words, " "))
}
`
	victim.Run(func(context.Context) (any, error) {
		i := interp.New(interp.Options{})
		if err := i.Use(stdlib.Symbols); err != nil {
			return nil, err
		}
		if _, err := i.Eval(script); err != nil {
			return nil, err
		}
		v, err := i.Eval("main.Answer()")
		if err != nil {
			return nil, err
		}
		return v.Int(), nil
	})
}
