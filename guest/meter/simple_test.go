package meter

import (
	"math/rand/v2"
	"testing"
)

// TestRun compares runs of simple instructions with reading them one by one: a run ends where an
// instruction begins, and costs what its instructions cost.
func TestRun(t *testing.T) {
	m := &module{globals: 3}
	all := uint32(0)
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		data := simpleCode(rng)
		c := code{reader: reader{data: data, end: len(data)}, m: m, locals: 200}
		costOf := map[int]uint32{} // of the code in front of an instruction
		sum := uint32(0)
		for steps := c; steps.more(); {
			costOf[steps.at] = sum
			if steps.next(); steps.err != nil || !isSimple(steps.op) {
				break
			}
			sum += uint32(costs[steps.op])
		}
		for range 20 {
			run, to, most := c, rng.IntN(len(data)+1), uint32(rng.IntN(int(sum)+2))
			got := run.run(to, most)
			if want, ok := costOf[run.at]; !ok || want != got || run.at > to || got > most {
				t.Fatalf("%x: a run to %d of at most %d ends at %d and costs %d; want %d, %t",
					data, to, most, run.at, got, want, ok)
			}
		}
		all += c.run(c.end, unlimited)
	}
	if all < 300 {
		t.Errorf("all runs together cost %d, an instruction or less each", all)
	}
}

// TestRunWrong: a run ends before an index of a local or global that does not exist.
func TestRunWrong(t *testing.T) {
	m := &module{globals: 3}
	for _, wrong := range []string{"\x20\x05", "\x23\x03"} {
		data := []byte("\x45\x20\x04\x23\x02" + wrong + "\x45\x45\x45")
		c := code{reader: reader{data: data, end: len(data)}, m: m, locals: 5}
		if c.run(c.end, unlimited); c.at != 5 {
			t.Errorf("%x: a run ends at %d; want 5", data, c.at)
		}
	}
}

// simpleCode returns simple instructions with numbers of all lengths, and then one that is not
// simple, or only a part of one.
func simpleCode(rng *rand.Rand) (data []byte) {
	for range 1 + rng.IntN(30) {
		op := Opcode(0x20 + rng.IntN(0xa5))
		if !isSimple(op) {
			continue
		}
		data = append(data, byte(op))
		switch forms[op] {
		case aLocal:
			data = appendU32(data, uint32(rng.IntN(200)))
		case aGlobal:
			data = appendU32(data, uint32(rng.IntN(3)))
		case aTable, anIndex:
			data = appendU32(data, 0)
		case anAccess:
			data = appendU32(data, uint32(rng.IntN(4)))
			data = appendU32(data, rng.Uint32()>>rng.IntN(32))
		case signed5:
			data = appendSigned(data, int64(int32(rng.Uint32())>>rng.IntN(32)))
		case signed10:
			data = appendSigned(data, int64(rng.Uint64())>>rng.IntN(64))
		case fixed4, fixed8:
			data = append(data, make([]byte, 4<<(forms[op]-fixed4))...)
		}
	}
	data = append(data, byte(opBr), 0)
	return data[:len(data)-rng.IntN(2)]
}
