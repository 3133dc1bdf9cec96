// Command counted prints how often code polls. Rewritten, it does.
package main

import (
	"errors"
	"fmt"
	"sort"

	"github.com/cocoon-go/cocoon/safepoint"
)

var polls, entered, left int

func main() {
	safepoint.Attach(func() { polls++ })
	safepoint.AttachSections(func(string) func(*error) {
		entered++
		return func(err *error) {
			left++
			*err = errors.Join(*err, errors.New("left"))
		}
	})
	safepoint.Raise()
	count("counted", func() { sum(make([]int, 10_000)) })
	count("short", func() { sum(make([]int, 10)) })
	count("fib", func() { fib(10) })
	count("leaf", func() { leaf(3) })
	polls = 0
	sort.Ints(make([]int, 100))
	fmt.Println("std", polls > 50)
	safepoint.Lower()
	fmt.Println("section", section(), entered, left)
}

func count(name string, f func()) {
	polls = 0
	f()
	fmt.Println(name, polls)
}

func sum(x []int) (sum int) {
	for _, v := range x {
		sum += v
	}
	return sum
}

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func leaf(n int) int { return n + 1 }

func section() error { return nil }
