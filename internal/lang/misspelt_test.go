package lang

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSpellings compares the search by maps with the comparison of each name with each other one,
// for short names of few letters, most of which have several neighbours.
func TestSpellings(t *testing.T) {
	found := 0
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		var names []string
		for range 1 + random.IntN(200) {
			name := make([]byte, 2+random.IntN(4))
			for i := range name {
				name[i] = "abbA/"[random.IntN(5)]
			}
			names = append(names, string(name))
		}
		slices.Sort(names)
		names = slices.Compact(names)
		all := NewSpellings(names)
		for _, name := range names {
			got, want := all.Misspelt(name), Misspelt(name, names)
			if got != want {
				t.Fatalf("seed %d: %q is a misspelling of %q, want %q; the names are %q", seed, name, got, want, names)
			}
			if want != "" {
				found++
			}
		}
	}
	if found < 1000 {
		t.Errorf("%d names have another spelling, want more for the test to mean anything", found)
	}
}

// BenchmarkSpellings has as many names as a document of 10,000 limits.
func BenchmarkSpellings(b *testing.B) {
	var names []string
	for i := range 10_000 {
		names = append(names, fmt.Sprintf("GET /items/%05d", i))
	}
	for b.Loop() {
		all := NewSpellings(names)
		for _, name := range names {
			all.Misspelt(name)
		}
	}
}
