package ir

import (
	"encoding/binary"
	"math/bits"
)

// The primes of XXH64.
const (
	prime1 uint64 = 0x9E3779B185EBCA87
	prime2 uint64 = 0xC2B2AE3D27D4EB4F
	prime3 uint64 = 0x165667B19E3779F9
	prime4 uint64 = 0x85EBCA77C2B2AE63
	prime5 uint64 = 0x27D4EB2F165667C5
)

// Hash returns the XXH64 of the text with seed 0 (https://xxhash.com). It is the same in all
// processes and on all machines, unlike the stubs.NameID of the text, which differs between
// processes. It takes about 0.1 ns a byte of a long text.
func Hash(text string) uint64 {
	b := []byte(text) // the compiler makes no copy: b does not escape and is not written to
	n := uint64(len(b))
	var h uint64
	if len(b) >= 32 {
		v := [4]uint64{0: prime1, 1: prime2}
		v[0], v[3] = v[0]+v[1], -v[0]
		for ; len(b) >= 32; b = b[32:] {
			for i := range v {
				v[i] = round(v[i], binary.LittleEndian.Uint64(b[8*i:]))
			}
		}
		h = bits.RotateLeft64(v[0], 1) + bits.RotateLeft64(v[1], 7) + bits.RotateLeft64(v[2], 12) + bits.RotateLeft64(v[3], 18)
		for i := range v {
			h = (h^round(0, v[i]))*prime1 + prime4
		}
	} else {
		h = prime5
	}
	h += n
	for ; len(b) >= 8; b = b[8:] {
		h = bits.RotateLeft64(h^round(0, binary.LittleEndian.Uint64(b)), 27)*prime1 + prime4
	}
	if len(b) >= 4 {
		h = bits.RotateLeft64(h^uint64(binary.LittleEndian.Uint32(b))*prime1, 23)*prime2 + prime3
		b = b[4:]
	}
	for _, c := range b {
		h = bits.RotateLeft64(h^uint64(c)*prime5, 11) * prime1
	}
	h = (h ^ h>>33) * prime2
	h = (h ^ h>>29) * prime3
	return h ^ h>>32
}

func round(acc, lane uint64) uint64 {
	return bits.RotateLeft64(acc+lane*prime2, 31) * prime1
}

// The constants of SplitMix64, which Mix uses.
const (
	MixStep  uint64 = 0x9E3779B97F4A7C15
	MixFirst uint64 = 0xBF58476D1CE4E5B9
	MixLast  uint64 = 0x94D049BB133111EB
)

// Mix combines two numbers: hash(a, b) is Mix(Mix(0, a), b), where a text is represented by its
// Hash. The result is not negative as an int64.
func Mix(h, word uint64) uint64 { return scramble((h+1)*MixStep+word) >> 1 }

// scramble is the output function of SplitMix64.
func scramble(z uint64) uint64 {
	z = (z ^ z>>30) * MixFirst
	z = (z ^ z>>27) * MixLast
	return z ^ z>>31
}

// Draws is the random number generator (SplitMix64) of one policy on one loop. Equal seeds give
// equal numbers.
type Draws struct{ state uint64 }

// NewDraws returns the draws of a policy on a loop.
func NewDraws(seed uint64, policy, loop string) Draws {
	return Draws{Mix(Mix(Mix(0, seed), Hash(policy)), Hash(loop))}
}

// Next returns the next number, at least 0 and less than 1.
func (d *Draws) Next() float64 {
	d.state += MixStep
	return float64(scramble(d.state)>>11) / (1 << 53)
}
