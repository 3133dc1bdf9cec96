package workloads

// How long Fib takes depends on where the linker places it, by 15 % with a poll, because its calls
// are all that it does. So the benchmark calls equal functions in several places.
var fibs = []func(int) int{Fib, fib1, fib2, fib3, fib4, fib5, fib6, fib7}

func fib1(n int) int {
	if n < 2 {
		return n
	}
	return fib1(n-1) + fib1(n-2)
}

func fib2(n int) int {
	if n < 2 {
		return n
	}
	return fib2(n-1) + fib2(n-2)
}

func fib3(n int) int {
	if n < 2 {
		return n
	}
	return fib3(n-1) + fib3(n-2)
}

func fib4(n int) int {
	if n < 2 {
		return n
	}
	return fib4(n-1) + fib4(n-2)
}

func fib5(n int) int {
	if n < 2 {
		return n
	}
	return fib5(n-1) + fib5(n-2)
}

func fib6(n int) int {
	if n < 2 {
		return n
	}
	return fib6(n-1) + fib6(n-2)
}

func fib7(n int) int {
	if n < 2 {
		return n
	}
	return fib7(n-1) + fib7(n-2)
}
