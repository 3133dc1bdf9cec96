package meter_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/guest/meter"
)

// TestCountedLoops: a loop that counts runs block by block, wherever it starts, and with fuel it is
// charged what it runs. Other loops look like one, and do not.
func TestCountedLoops(t *testing.T) {
	const (
		count   = "\x20\x01\x41\x01\x6a\x21\x01"
		inIf    = "\x20\x01\x41\x01\x71\x04\x40\x20\x01\x41\x02\x6a\x21\x01\x0b" // if count is odd, count += 2
		leaves  = "\x20\x01\x41\xe4\x00\x46\x0d\x01"                             // if count == 100, leave the loop
		turns   = "\x20\x01\x41\x07\x71\x41\x03\x46\x0d\x00"                     // if count % 8 == 3, the next iteration
		counter = "\x20\x00\x41\x00\x6a\x21\x00"                                 // sets the counter
		sets    = "\x20\x02\x21\x02"                                             // sets the last value
	)
	type numbers struct{ from, last, step int64 }
	for name, c := range map[string]struct {
		code    string
		blocks  bool
		compare string // with the last value; that of the numbers if it is a local
		numbers []numbers
	}{
		"to a constant": {"", true, "\x41\xe4\x00\x47", []numbers{{99, 100, 1}, {0, 100, 1}, {-3, 100, 1}, {-300, 100, 8}, {101, 100, -1}, {1000, 100, -4}}},
		"to zero":       {"", true, "", []numbers{{1, 0, -1}, {777, 0, -1}, {-5, 0, 1}, {-4096, 0, 4}, {65536, 0, -16}, {0, 0, 1 << 16}}},
		"to a local": {"", true, "\x20\x02\x47", []numbers{
			{5, 7, 2}, {0, 2000, 1}, {2000, 0, -1}, {-1 << 31, -1<<31 + 50, 1}, {1<<31 - 20, -1<<31 + 20, 1}, {-1<<31 + 3, 1<<31 - 100, -1},
			{1, 1, 1 << 16}, {1 + 1<<16, 1, 1 << 16}, {1, 1 + 1<<16, -1 << 16}, {0, 1 << 20, 1 << 12},
		}},
		"with a branch":              {inIf, true, "\x20\x02\x47", []numbers{{0, 1000, 1}, {0, 1, 1}}},
		"that is left":               {leaves, false, "\x20\x02\x47", []numbers{{0, 1000, 1}, {0, 50, 1}}},
		"with another way back":      {turns, false, "\x20\x02\x47", []numbers{{0, 1000, 1}}},
		"that sets the counter":      {counter, false, "\x20\x02\x47", []numbers{{0, 1000, 1}}},
		"that sets the last value":   {sets, false, "\x20\x02\x47", []numbers{{0, 1000, 1}}},
		"in steps of three":          {"", false, "\x20\x02\x47", []numbers{{0, 999, 3}}},
		"in long steps":              {"", false, "\x20\x02\x47", []numbers{{0, 1 << 20, 1 << 17}}},
		"with much code":             {strings.Repeat(count, 80), false, "\x20\x02\x47", []numbers{{0, 10, 1}}},
		"that compares with itself":  {"", false, "\x20\x00\x47", []numbers{{0, 1, 1}}},
		"that compares for equality": {"", false, "\x20\x02\x46", []numbers{{0, 1, 1}}},
	} {
		for _, n := range c.numbers {
			t.Run(fmt.Sprintf("%s, from %d to %d by %d", name, n.from, n.last, n.step), func(t *testing.T) {
				wasm := simple(i32ToI32, body("\x01\x02\x7f", "\x41"+sleb(n.last)+"\x21\x02\x02\x40\x03\x40"+
					strings.Repeat("\x01", 50)+count+c.code+"\x20\x00\x41"+sleb(n.step)+"\x6a\x22\x00"+c.compare+"\x0d\x00\x0b\x0b"+
					"\x20\x01\x20\x00\x41\x11\x6c\x6a"))
				testCounted(t, wasm, uint64(uint32(n.from)), c.blocks)
			})
		}
	}
}

// testCounted demands that f returns the same in slices of any size, and that its loop runs block by
// block or does not.
func testCounted(t *testing.T, wasm []byte, from uint64, blocks bool) {
	each, err := meter.RewriteEach(wasm)
	if err != nil {
		t.Fatal(err)
	}
	for _, engine := range engines {
		exact := run(t, engine, each, 1<<50)
		want := invoke(t, exact, "f", from)
		for _, mechanism := range mechanisms {
			metered, err := meter.Rewrite(wasm, meter.Config{Mechanism: mechanism})
			if err != nil {
				t.Fatal(err)
			}
			const end = "\x22\x00\x20\x04\x47\x0d\x00" // local.tee 0, local.get 4, i32.ne, br_if 0
			if bytes.Contains(metered, []byte(end)) != blocks {
				t.Fatalf("%v: in blocks: %v; want %v", mechanism, !blocks, blocks)
			}
			for _, slice := range []int64{0, 17, 5000, 1 << 50} {
				g := startIn(t, engine, wasm, mechanism, slice)
				if got := invoke(t, g, "f", from); got != want {
					t.Errorf("%v, slices of %d: f returns %d; want %d", mechanism, slice, int32(got), int32(want))
				}
				if mechanism == meter.Fuel && g.used() != exact.used() {
					t.Errorf("slices of %d: %d units used; want %d", slice, g.used(), exact.used())
				}
				g.close()
			}
		}
		exact.close()
	}
}

// TestCountsForever: a loop that counts past its last value for ever comes to safe points.
func TestCountsForever(t *testing.T) {
	wasm := simple(i32ToI32, body("\x00", "\x03\x40"+strings.Repeat("\x01", 65)+"\x20\x00\x41\x02\x6a\x22\x00\x41\x00\x47\x0d\x00\x0b\x20\x00"))
	for _, engine := range engines {
		for _, mechanism := range mechanisms {
			g := startIn(t, engine, wasm, mechanism, 1000)
			g.at = func() {
				if g.calls == 100 {
					panic("enough")
				}
			}
			if _, err := g.ExportedFunction("f").Call(t.Context(), 1); !strings.Contains(first(err), "enough") {
				t.Errorf("%v: %v", mechanism, err)
			}
			if mechanism == meter.Fuel && (g.least < -3000 || g.used() < 100_000) {
				t.Errorf("what is left falls to %d, and %d units are used", g.least, g.used())
			}
			g.close()
		}
	}
}
