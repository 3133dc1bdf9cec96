package isolate

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// table is a set with lookups of constant cost: by cuckoo hashing, each word is in one of two
// places, which two factors determine. An empty place also holds some word of the set, so every
// word in the table is in the set.
type table struct {
	words   []uint64 // the length is a power of two
	factors [2]uint64
	shift   uint64 // leaves the bits of a place
}

const (
	leastTable = 4
	maxTries   = 32  // pairs of factors for a table of one size
	maxKicks   = 500 // words moved to make room for one
)

// newTable makes the table of a nonempty set. The same set always has the same table.
func newTable(words []uint64) (table, error) {
	random := rand.New(rand.NewPCG(uint64(len(words)), words[0]))
	least := bits.Len(uint(max(leastTable, 2*len(words)) - 1))
	for size := least; size < least+4; size++ {
		for range maxTries {
			t := table{words: make([]uint64, 1<<size), factors: [2]uint64{random.Uint64() | 1, random.Uint64() | 1}, shift: uint64(64 - size)}
			if t.take(words) {
				return t, nil
			}
		}
	}
	return table{}, fmt.Errorf("no table found for a set of %d constants; use fewer constants, or other ones", len(words))
}

func (t *table) place(word uint64, which int) int { return int(word * t.factors[which] >> t.shift) }

// take puts the words in, and reports whether there was room.
func (t *table) take(words []uint64) bool {
	taken := make([]bool, len(t.words))
	for _, w := range words {
		at := t.place(w, 0)
		for kicks := 0; taken[at]; kicks++ {
			if kicks == maxKicks {
				return false
			}
			w, t.words[at] = t.words[at], w
			if other := t.place(w, 0); other != at {
				at = other
			} else {
				at = t.place(w, 1)
			}
		}
		t.words[at], taken[at] = w, true
	}
	for i := range t.words {
		if !taken[i] {
			t.words[i] = words[0]
		}
	}
	return true
}

// tables makes the tables of the program's sets, and returns their total number of words.
func tables(p *ir.Program) (all []table, words int, err error) {
	for _, s := range p.Sets {
		if len(s.Words) == 0 {
			return nil, 0, fmt.Errorf("a set has no constants")
		}
		t, err := newTable(s.Words)
		if err != nil {
			return nil, 0, err
		}
		all = append(all, t)
		words += len(t.words)
	}
	return all, words, nil
}

// content returns the tables as the module's memory holds them, after the outcome.
func content(all []table) (b []byte) {
	for _, t := range all {
		for _, w := range t.words {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
	}
	return b
}

// in looks a word up, in both places, without a branch.
func (g *generator) in(n *ir.Node) {
	if n.Index < 0 || n.Index >= len(g.tables) || n.A.Type == stubs.Float || n.A.Type == stubs.Bool {
		g.fail("offset %d: no set %d of a %v", n.Pos, n.Index, n.A.Type)
		return
	}
	address, t := setsAddress(g.program), g.tables[n.Index]
	for _, before := range g.tables[:n.Index] {
		address += len(before.words) * wordBytes
	}
	g.node(n.A)
	g.set(g.x)
	for _, factor := range t.factors {
		g.get(g.x)
		g.i64(factor)
		g.op(opI64Mul)
		g.i64(t.shift)
		g.op(opI64ShrU, opI32WrapI64)
		g.i32(3)
		g.op(opI32Shl)
		g.memory(opI64Load, address)
		g.get(g.x)
		g.op(opI64Eq)
	}
	g.op(opI32Or)
}
