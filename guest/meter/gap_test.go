package meter_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/guest/meter"
	"github.com/cocoon-go/cocoon/internal/longtest"
)

// gap is the most that fuel may be overdrawn where there is no loop: what runs between two safe
// points, and what is charged together.
const gap = 2*50_000 + 1000

// TestGaps runs code that does much without a loop of its own. The time between safe points is
// bounded, and so is what fuel is overdrawn.
func TestGaps(t *testing.T) {
	chain := func(length int) []string { // each function calls the next one twice: 2^length calls
		var bodies []string
		for i := range length {
			call := "\x20\x00\x10" + leb(i+1) + "\x1a"
			bodies = append(bodies, body("\x00", call+call+"\x20\x00"))
		}
		return append(bodies, body("\x00", "\x20\x00"))
	}
	addition := "\x20\x00\x41\x01\x6a\x21\x00"
	down := "\x20\x00\x45\x04\x40\x41\x00\x0f\x0b\x20\x00\x41\x01\x6b\x10\x00\x1a" // f(n-1), unless n is 0
	branch := "\x20\x00\x04\x40" + strings.Repeat(addition, 40) + "\x0b\x20\x00"
	for name, wasm := range map[string][]byte{
		"a way back with a branch": simple(i32ToI32, body("\x00", down+branch)),
		"a way back with a call":   simple(i32ToI32, body("\x00", down+"\x20\x00\x10\x01\x1a\x20\x00"), body("\x00", branch)),
		"a chain of calls":         simple(i32ToI32, chain(longtest.Count(22, 16))...),
		"code in a line":           simple(i32ToI32, body("\x00", strings.Repeat(addition, 60_000)+"\x20\x00")),
		"a function in branches":   simple(i32ToI32, body("\x00", strings.Repeat("\x20\x00\x04\x40"+strings.Repeat(addition, 40)+"\x0b", longtest.Count(2000, 500))+"\x20\x00")),
		"a loop around much code":  simple(i32ToI32, body("\x00", "\x41\x14\x21\x00\x03\x40"+strings.Repeat("\x20\x00\x1a", longtest.Count(60_000, 20_000))+"\x20\x00\x41\x01\x6b\x22\x00\x0d\x00\x0b\x20\x00")),
		"a recursion":              simple(i32ToI32, body("\x00", "\x20\x00\x45\x04\x40\x41\x00\x0f\x0b\x20\x00\x41\x01\x6b\x10\x00\x41\x01\x6a")),
	} {
		t.Run(name, func(t *testing.T) {
			for _, mechanism := range mechanisms {
				g := start(t, wasm, mechanism, 1000)
				longest, last := time.Duration(0), time.Now()
				g.at = func() {
					now := time.Now()
					longest, last = max(longest, now.Sub(last)), now
				}
				last = time.Now()
				invoke(t, g, "f", 10_000)
				g.least = min(g.least, int64(g.left.Get()))
				t.Logf("%v: %d safe points, the longest gap %v, the lowest value %d", mechanism, g.calls, longest, g.least)
				if g.calls < 3 {
					t.Errorf("%v: %d safe points", mechanism, g.calls)
				}
				if g.least < -gap {
					t.Errorf("%v: what is left falls to %d; want at least %d", mechanism, g.least, -gap)
				}
			}
		})
	}
}

// TestReturning demands that the return from a deep recursion passes safe points.
func TestReturning(t *testing.T) {
	// f(n) calls f(n-1) and returns n; f(0) stores 1 in memory and returns.
	stop := "\x20\x00\x45\x04\x40\x41\x00\x41\x01\x36\x02\x00\x41\x00\x0f\x0b"
	down := "\x20\x00\x41\x01\x6b\x10\x00"
	work := strings.Repeat("\x20\x00\x1a", 8)
	for name, code := range map[string]string{
		"in a line":             stop + down + "\x41\x01\x6a",
		"in a branch":           stop + "\x20\x00\x04\x40" + down + "\x1a\x0b" + work + "\x20\x00",
		"in a block, skipped":   stop + "\x02\x40\x02\x40" + down + "\x45\x0d\x01\x0b\x0b" + work + "\x20\x00",
		"last in a skipped one": stop + "\x02\x40\x02\x40\x20\x00\x45\x0d\x01" + down + "\x1a\x0b\x0b" + work + "\x20\x00",
	} {
		t.Run(name, func(t *testing.T) { testReturning(t, simple(i32ToI32, body("\x00", code))) })
	}
}

func testReturning(t *testing.T, wasm []byte) {
	for _, mechanism := range mechanisms {
		g := start(t, wasm, mechanism, 10_000)
		there, back := 0, 0
		g.at = func() {
			if b, _ := g.Memory().ReadByte(0); b == 0 {
				there++
			} else {
				back++
			}
		}
		n := uint64(longtest.Count(100_000, 30_000))
		if got := invoke(t, g, "f", n); got != n {
			t.Errorf("f returns %d", got)
		}
		if back < there/2 || back > 3*there {
			t.Errorf("%v: %d safe points on the way there, and %d back", mechanism, there, back)
		}
	}
}

// TestTailCalls: tail calls need no stack, with safe points as well as without.
func TestTailCalls(t *testing.T) {
	// f(n) tail-calls f(n-1), or, for each n that 1000 divides, calls g and then does so; g(n) calls
	// itself n % 8 times.
	f := "\x20\x00\x45\x04\x40\x41\x07\x0f\x0b" +
		"\x20\x00\x41\xe8\x07\x70\x45\x04\x40\x20\x00\x10\x01\x1a\x0b" +
		"\x20\x00\x41\x01\x6b\x12\x00"
	g := "\x20\x00\x41\x07\x71\x45\x04\x40\x41\x00\x0f\x0b\x20\x00\x41\x01\x6b\x10\x01\x41\x01\x6a"
	wasm := simple(i32ToI32, body("\x00", f), body("\x00", g))
	n := uint64(longtest.Count(2_000_000, 500_000))
	for _, mechanism := range mechanisms {
		m := start(t, wasm, mechanism, 10)
		if got := invoke(t, m, "f", n); got != 7 {
			t.Errorf("%v: f returns %d", mechanism, got)
		}
		if m.calls < int(n)/20 {
			t.Errorf("%v: %d safe points", mechanism, m.calls)
		}
	}
}

// TestWayBackIsFree: with epochs a recursive function has no code of the meter behind its calls,
// unless its entry has called the host.
func TestWayBackIsFree(t *testing.T) {
	code := func(self string) string { // f(n) = n == 0 ? 0 : f(n-1) + 1
		return "\x20\x00\x45\x04\x40\x41\x00\x0f\x0b\x20\x00\x41\x01\x6b\x10" + self + "\x41\x01\x6a"
	}
	original := simple(i32ToI32, body("\x00", code("\x00")))
	metered, err := meter.Rewrite(original, meter.Config{Mechanism: meter.Epoch})
	if err != nil {
		t.Fatal(err)
	}
	if want := code("\x01") + "\x0b"; !bytes.Contains(metered, []byte(want)) {
		t.Errorf("the code does not end with %x: %x", want, metered)
	}
	for _, slice := range []int64{0, 5, 1000} {
		g := start(t, original, meter.Epoch, slice)
		if got := invoke(t, g, "f", 10_000); got != 10_000 {
			t.Errorf("slices of %d: f returns %d", slice, got)
		}
	}
}

// TestCost demands that no instruction is free that can make code run longer.
func TestCost(t *testing.T) {
	free := map[meter.Opcode]bool{0: true, 1: true, 2: true, 3: true, 5: true, 0x0b: true}
	for op := range meter.Opcode(0xff) {
		if got := meter.Cost(op); free[op] != (got == 0) || got < 0 {
			t.Errorf("instruction %#x costs %d", op, got)
		}
	}
	for _, prefix := range []meter.Opcode{0xfc00, 0xfd00, 0xfe00} {
		for n := range meter.Opcode(0x100) {
			if meter.Cost(prefix+n) < 1 {
				t.Errorf("instruction %#x costs %d", prefix+n, meter.Cost(prefix+n))
			}
		}
	}
}

// TestFuelStopsAtTheSameInstruction stops a program by each amount of fuel: what it has done is the
// same in the compiler, in the interpreter, and each time.
func TestFuelStopsAtTheSameInstruction(t *testing.T) {
	// f counts in memory, by steps that depend on the count.
	code := "\x03\x40\x41\x00\x41\x00\x28\x02\x00\x41\x01\x6a\x36\x02\x00" + // memory[0]++
		"\x41\x00\x28\x02\x00\x41\x03\x71\x04\x40\x41\x04\x41\x04\x28\x02\x00\x41\x01\x6a\x36\x02\x00\x0b\x0c\x00\x0b"
	wasm := simple(toNothing, body("\x00", code))
	for fuel := int64(0); fuel < 300; fuel += 7 {
		var seen []string
		for _, engine := range engines {
			g := startIn(t, engine, wasm, meter.Fuel, fuel)
			g.at = func() {
				if g.calls == 3 {
					panic("the fuel is used up")
				}
			}
			if err := call(g, "f"); !strings.Contains(first(err), "used up") {
				t.Fatal(err)
			}
			memory, _ := g.Memory().Read(0, 8)
			seen = append(seen, fmt.Sprint(memory, g.used()))
			g.close()
		}
		if seen[0] != seen[1] {
			t.Errorf("fuel %d: %v", fuel, seen)
		}
	}
}
