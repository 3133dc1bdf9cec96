// Package workloads contains the three programs with which preemption in compiled code is compared.
// They are from Table I of "Prototype Preemptive Threading in Wasmtime" (Yang, Muxlow), where they
// take 1.19, 1.48 and 1.25 times as long with fuel, and 0.97, 1.49 and 1.51 times with epochs.
package workloads

// Fib returns the nth Fibonacci number by naive recursion: it only makes calls.
func Fib(n int) int {
	if n < 2 {
		return n
	}
	return Fib(n-1) + Fib(n-2)
}

// Dot returns the dot product of two vectors of the same length: it is one short loop.
func Dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// MatMul sets c to the product of two n×n matrices, stored row by row: it is a nest of short loops.
func MatMul(c, a, b []float64, n int) {
	for i := 0; i < n; i++ {
		for j := 0; j < n; j++ {
			sum := 0.0
			for k := 0; k < n; k++ {
				sum += a[i*n+k] * b[k*n+j]
			}
			c[i*n+j] = sum
		}
	}
}
