package isolate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

// sets are those that a hash likes least.
func sets() map[string][]uint64 {
	random := rand.New(rand.NewPCG(3, 4))
	all := map[string][]uint64{"one": {7}, "zero": {0}, "ends": {0, 1, math.MaxInt64, 1 << 63, math.MaxUint64}}
	for name, word := range map[string]func(i uint64) uint64{
		"in a row": func(i uint64) uint64 { return i }, "negative": func(i uint64) uint64 { return -i }, "thousands": func(i uint64) uint64 { return 1000 * i },
		"high bits": func(i uint64) uint64 { return i << 48 }, "both ends": func(i uint64) uint64 { return i<<50 | i }, "random": func(uint64) uint64 { return random.Uint64() },
	} {
		for _, n := range []int{9, 1000, lang.MaxConstants} {
			var words []uint64
			for i := range n {
				words = append(words, word(uint64(i)))
			}
			slices.Sort(words)
			all[name] = slices.Compact(words)
			if n < lang.MaxConstants {
				all[name+" in short"] = all[name]
			}
		}
	}
	return all
}

// Each word is found in its set, and no neighbour that is none.
func TestSets(t *testing.T) {
	stores := engines(t)
	for name, words := range sets() {
		p := &ir.Program{Words: 1, Sets: []ir.Set{{Type: stubs.Int, Words: []uint64{4, 5}}, {Type: stubs.Int, Words: words}},
			Root: choose(&ir.Node{Op: ir.OpIn, Type: stubs.Bool, Index: 1, A: read(stubs.Int, 0)}, verdict(stubs.Switch, 0), verdict(stubs.Continue, 0))}
		var snapshots [][]uint64
		for i := 0; i < len(words); i += 1 + len(words)/500 {
			snapshots = append(snapshots, []uint64{words[i]}, []uint64{words[i] + 1}, []uint64{words[i] - 1}, []uint64{words[i] ^ 1<<63})
		}
		in := 0
		for _, r := range agree(t, stores, p, snapshots...) {
			if kind(r) == "switch" {
				in++
			}
		}
		if in < len(snapshots)/4 || in == len(snapshots) && name != "in a row" {
			t.Errorf("%s: %d of %d are in", name, in, len(snapshots))
		}
	}
}

// BenchmarkSet is an evaluation with a look-up in the greatest set.
func BenchmarkSet(b *testing.B) {
	words := sets()["random"]
	p := &ir.Program{Words: 1, Sets: []ir.Set{{Type: stubs.Name, Words: words}},
		Root: choose(&ir.Node{Op: ir.OpIn, Type: stubs.Bool, A: read(stubs.Name, 0)}, verdict(stubs.Switch, 0), verdict(stubs.Continue, 0))}
	e := evaluator(b, p)
	i := 0
	for b.Loop() {
		e.Snapshot()[0] = words[i%len(words)]
		if i += 7; i < 0 {
			i = 0
		}
		if _, err := e.Eval(); err != nil {
			b.Fatal(err)
		}
	}
}
