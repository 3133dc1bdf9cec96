package ir

import (
	"strings"
	"testing"
)

// The values are those of other implementations of XXH64 and of SplitMix64.
func TestHashIsKnownElsewhere(t *testing.T) {
	for text, want := range map[string]uint64{
		"":    0xef46db3751d8e999,
		"a":   0xd24ec4f1a98c6e5b,
		"abc": 0x44bc2cf5ad770999,
		"The quick brown fox jumps over the lazy dog": 0x0b242d361fda71bc,
	} {
		if got := Hash(text); got != want {
			t.Errorf("Hash(%q) is %#x, want %#x", text, got, want)
		}
	}
	if got := scramble(MixStep); got != 0xe220a8397b1dcdaf { // the first number from the seed 0
		t.Errorf("SplitMix64 begins with %#x", got)
	}
}

func TestHashOfLongTexts(t *testing.T) {
	seen := map[uint64]int{}
	for n := range 200 {
		h := Hash(strings.Repeat("x", n))
		if was, twice := seen[h]; twice {
			t.Errorf("%d and %d bytes have one hash", was, n)
		}
		seen[h] = n
	}
	long := strings.Repeat("y", 1<<20)
	if Hash(long) == Hash(long[1:]) {
		t.Error("texts of a megabyte have one hash")
	}
	if n := testing.AllocsPerRun(10, func() { Hash(long) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestMixIsEven(t *testing.T) {
	var buckets [100]int
	const n = 100_000
	for i := range uint64(n) {
		h := Mix(0, i)
		if int64(h) < 0 {
			t.Fatalf("Mix(0, %d) is negative", i)
		}
		buckets[h%100]++
	}
	for i, k := range buckets {
		if k < n/100*8/10 || k > n/100*12/10 {
			t.Errorf("%d of %d fall on %d", k, n, i)
		}
	}
}

func TestDraws(t *testing.T) {
	a, b, other := NewDraws(1, "p", "main"), NewDraws(1, "p", "main"), NewDraws(1, "q", "main")
	same, sum := 0, 0.0
	for range 10_000 {
		x := a.Next()
		if y := b.Next(); x != y || x < 0 || x >= 1 {
			t.Fatalf("%v and %v from one seed", x, y)
		}
		if sum += x; x == other.Next() {
			same++
		}
	}
	if same > 0 || sum < 4900 || sum > 5100 {
		t.Errorf("%d draws of two policies are the same; the sum is %v", same, sum)
	}
}
