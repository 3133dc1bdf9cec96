package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
)

type number interface{ ~int8 | ~int | ~float64 }

func sumTo[T number](n T) (sum T) {
	for i := T(0); i < n; i++ {
		sum += i
	}
	for range 3 {
		sum++
	}
	return sum
}

type list[T any] struct {
	value T
	next  *list[T]
}

func (l *list[T]) each(f func(T)) {
	for ; l != nil; l = l.next {
		f(l.value)
	}
}

func indexes[S ~[]E, E comparable](s S, e E) (at []int) {
	for i := range s {
		if s[i] == e {
			at = append(at, i)
		}
	}
	return at
}

func generics() any {
	var all []string
	(&list[string]{"a", &list[string]{"b", nil}}).each(func(s string) { all = append(all, s) })
	return fmt.Sprint(sumTo(int8(10)), sumTo(5000), sumTo(10.5), all, indexes([]string{"x", "y", "x"}, "x"))
}

func count(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := 0; i < n; i++ {
			if !yield(i) {
				return
			}
		}
	}
}

func rangeOverFunc() any {
	sum := 0
outer:
	for i := range count(5000) {
		for j := range count(i) {
			if j > 2 {
				continue outer
			}
			sum += j
			defer func() { sum++ }()
		}
		if i > 4000 {
			break outer
		}
	}
	for range count(10) {
		sum++
	}
	for i := range slices.Values([]int{1, 2, 3}) {
		sum += i
	}
	first := func() int {
		for i := range count(9000) {
			if i*i > 7_000_000 {
				return i
			}
		}
		return -1
	}
	return sum + first()
}

func labels() any {
	sum := 0
outer:
	for i := 0; i < 3000; i++ {
	inner:
		for j := 0; ; j++ {
			switch {
			case j == 3:
				continue outer
			case i == 2500:
				break outer
			case j == 2 && i%2 == 0:
				break inner
			}
			sum += j
		}
		sum++
	}
block:
	switch {
	default:
		for i := range 10 {
			if i == 5 {
				break block
			}
			sum += 1000
		}
	}
	return sum
}

func gotos() any {
	i, sum := 0, 0
again:
	for j := 0; j < 2; j++ {
		if i > 3000 {
			break again
		}
		sum += j
		i++
		goto again
	}
	if i == 3001 {
		i++
		goto again
	}
back:
	i++
	if i < 9000 {
		goto back
	}
	goto end
end:
	return sum + i
}

func selects() any {
	in, done := make(chan int), make(chan bool)
	go func() {
		defer close(done)
		for i := range 2000 {
			in <- i
		}
	}()
	sum := 0
	for {
		select {
		case v := <-in:
			sum += v
		case <-done:
			return sum
		}
	}
}

func closures() any {
	n := 0
	for func() bool { n++; return n < 3000 }() {
		n += 2
	}
	for i := 0; func() bool { i++; return i < 2000 }(); i++ {
		n++
	}
	for i, next := 0, func(i int) int { return i + 1 }; i < 3000; i = next(i) {
		n += i
	}
	return n
}

func defers() any {
	sum := 0
	func() {
		for i := range 2000 {
			defer func() {
				for j := range i {
					sum += j
				}
			}()
			defer func(n int) { sum -= n }(i)
		}
	}()
	return sum
}

func ownCounter() any {
	sum, steps := 0, 0
	for i := 0; i < 10_000; i++ {
		sum += i
		if i%3 == 0 {
			i += 5
		}
		steps++
	}
	for i := 0; i < 10_000; i++ {
		p := &i
		*p += 1023
		steps++
	}
	for i, n := 0, 5000; i < n; i, n = i+2, n-1 {
		steps++
	}
	for i := range 5000 {
		i *= 2
		sum += i
	}
	s := []int{1, 2, 3}
	for i := 0; i < len(s); i++ {
		if len(s) < 3000 {
			s = append(s, i)
		}
	}
	for i := 5000; i >= 0; i -= 3 {
		steps++
	}
	return fmt.Sprint(sum, steps, len(s))
}

func captured() any {
	var fs []func() int
	for i := 0; i < 3000; i++ {
		fs = append(fs, func() int { i += 10; return i })
	}
	for i, s := 0, ""; i < 3; i++ {
		fs = append(fs, func() int { s += "x"; return len(s) + i })
		i := i + 5
		_ = i
	}
	var ps []*int
	for i := range 3000 {
		ps = append(ps, &i)
	}
	sum := 0
	for i, f := range fs {
		sum += f() + f() + i
	}
	for _, p := range ps {
		sum += *p
	}
	return sum
}

type small int8

func (s *small) next() { *s++ }

func smallIntegers() any {
	sum := 0
	for i := int8(0); i < 127; i++ {
		sum += int(i)
	}
	for i := uint8(0); i < 255; i += 5 {
		sum += int(i)
	}
	for i := small(-128); i < 100; i.next() {
		sum++
	}
	for i := small(0); i < 100; i++ {
		for j := small(0); j < i; j++ {
			sum++
		}
	}
	for range uint8(200) {
		for range uint8(200) {
			sum++
		}
	}
	for i := range uint16(3000) {
		sum += int(i)
	}
	for i := uint32(1 << 31); i > 0; i >>= 1 {
		sum++
	}
	for f := 0.0; f < 3000; f++ {
		sum++
	}
	return sum
}

func rangeForms() any {
	var out strings.Builder
	text := strings.Repeat("aé世\xff", 1000)
	n := 0
	for range text {
		n++
	}
	for i := range text {
		n += i
	}
	for _, c := range text {
		n += int(c)
	}
	var i int
	for i = range text {
		n++
	}
	for i, n = range []int{1, 2, 3} {
		n += i
	}
	array := [3000]int{5, 6}
	for range array {
		n++
	}
	for _, v := range &array {
		n += v
	}
	for i, v := range array {
		array[2999-i] += v
		n += v
	}
	for k, v := range map[string]int{"a": 1} {
		n += len(k) + v
	}
	ch := make(chan int, 3)
	ch <- 1
	ch <- 2
	close(ch)
	for v := range ch {
		n += v
	}
	for range 3000 {
		n++
	}
	for _ = range 3000 {
		n++
	}
	for _, _ = range text {
		n++
	}
	var none []int
	for _, v := range none {
		n += v
	}
	for i, v := range []int{1, 2, 3} {
		v := v * i
		i := 3
		n += i * v
	}
	fmt.Fprint(&out, n)
	return out.String()
}

// traces gives the lines of the callers, through rewritten code of all kinds.
func traces() any {
	var lines []string
	mark := func() { _, _, line, _ := runtime.Caller(1); lines = append(lines, fmt.Sprint(line)) }
	for i := 0; i < 2; i++ {
		mark()
		mark()
	}
	for _, f := range []func(){mark, func() { mark() }} {
		f()
	}
	twice := func() {
		defer mark()
		mark()
	}
	twice()
	return lines
}
