package main

import (
	"fmt"
	"math"
)

// pieces are loops that are taken into pieces, each of which ends in another way.
func pieces() any {
	var all []any
	add := func(values ...any) { all = append(all, values...) }
	for _, n := range []int{-5, 0, 1, 1023, 1024, 1025, 2048, 3000} {
		add(upTo(n), downTo(n), through(n), backThrough(n), stopped(n, 1024), stopped(n, 2047), skipping(n))
	}
	add(upBetween(math.MaxInt-3000, math.MaxInt), upBetween(math.MaxInt-3, math.MaxInt), upBetween(math.MinInt, math.MinInt+2000))
	add(downBetween(math.MinInt+3000, math.MinInt), downBetween(math.MaxInt, math.MaxInt-2000), upBetween(3, -3))
	add(unsigned(0), unsigned(5000), wrapping(250), shrinking(5000), growing(3))
	add(between32(math.MaxInt32-2000, math.MaxInt32), parenthesised(2500))
	return fmt.Sprint(all...)
}

func upTo(n int) (sum int) {
	for i := 0; i < n; i++ {
		sum += i
	}
	return sum
}

func downTo(n int) (sum int) {
	for i := n; i > 0; i-- {
		sum = sum*3 + i
	}
	return sum
}

func through(n int) (sum int) {
	x := make([]int, max(n, 0))
	for i := 0; i < len(x); i++ {
		x[i] = sum
		sum += i
	}
	for i := len(x) - 1; i >= 0; i-- {
		sum += x[i]
	}
	return sum
}

func backThrough(n int) (sum int) {
	for i := n; i >= 2; i-- {
		sum = sum*5 + i
	}
	return sum
}

func stopped(n, at int) (sum int) {
	for i := 0; i < n; i++ {
		if i == at {
			break
		}
		sum += i
	}
	for i := range n {
		if i == at {
			break
		}
		sum += i
	}
	return sum
}

func skipping(n int) (sum int) {
	for i := 0; i < n; i++ {
		if i%1024 == 0 || i%1023 == 0 {
			continue
		}
		sum += i
	}
	return sum
}

func upBetween(from, to int) (steps int) {
	for i := from; i < to; i++ {
		steps++
	}
	return steps
}

func downBetween(from, to int) (steps int) {
	for i := from; i > to; i-- {
		steps++
	}
	return steps
}

func between32(from, to int32) (steps int) {
	for i := from; i < to; i++ {
		steps++
	}
	return steps
}

func unsigned(from uint) (steps int) {
	for i := from; i > 0; i-- {
		steps++
	}
	return steps
}

func wrapping(from uint8) (steps int) {
	for i := from; i != 3; i++ {
		steps++
	}
	return steps
}

func shrinking(n int) (steps int) {
	for i := 0; i < n; i++ {
		n--
		steps++
	}
	return steps
}

func growing(n int) int {
	x := make([]int, n)
	for i := 0; i < len(x); i++ {
		if len(x) < 4000 {
			x = append(x, i)
		}
	}
	return len(x)
}

func parenthesised(n int) (sum int) {
	for i := (0); i < (n); i++ {
		sum += i
	}
	return sum
}
