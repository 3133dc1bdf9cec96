// Command counted prints how often code polls. Rewritten, it does.
package main

import (
	"errors"
	"fmt"
	"runtime"
	"sort"
	"strings"

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
	count("steps", func() { steps(27) })
	fmt.Println("crash", crash([]int{1}))
	polls = 0
	sort.Ints(make([]int, 1000))
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

// steps makes 111 iterations from 27.
func steps(n int) (made int) {
	if n < 0 {
		return steps(-n)
	}
	for n != 1 {
		made++
		if n%2 == 0 {
			n /= 2
		} else {
			n = 3*n + 1
		}
	}
	return made
}

// crash returns the line of an index out of range in the second iteration.
func crash(x []int) (line int) {
	defer func() {
		recover()
		for skip := range 9 {
			if pc, _, at, _ := runtime.Caller(skip); strings.HasSuffix(runtime.FuncForPC(pc).Name(), ".crash") {
				line = at
			}
		}
	}()
	i := 0
	for line == 0 {
		line -= x[i]
		i++
		line += x[i-1]
	}
	return 0
}
