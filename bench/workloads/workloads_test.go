package workloads

import (
	"slices"
	"testing"
)

func TestWorkloads(t *testing.T) {
	for i, f := range fibs {
		if got := f(20); got != 6765 {
			t.Errorf("fibs[%d](20) = %d", i, got)
		}
	}
	a, b, c := []float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, make([]float64, 4)
	if got := Dot(a, b); got != 70 {
		t.Errorf("Dot = %v", got)
	}
	if MatMul(c, a, b, 2); !slices.Equal(c, []float64{19, 22, 43, 50}) {
		t.Errorf("MatMul = %v", c)
	}
}

var (
	sum     int
	product float64
)

func BenchmarkFib(b *testing.B) {
	for b.Loop() {
		for _, f := range fibs {
			sum += f(28)
		}
	}
}

func BenchmarkDot(b *testing.B) {
	x, y := vector(1<<24), vector(1<<24)
	for b.Loop() {
		product += Dot(x, y)
	}
}

func BenchmarkMatMul(b *testing.B) {
	const n = 512
	x, y, z := vector(n*n), vector(n*n), make([]float64, n*n)
	for b.Loop() {
		MatMul(z, x, y, n)
	}
}

func vector(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(i % 7)
	}
	return v
}
