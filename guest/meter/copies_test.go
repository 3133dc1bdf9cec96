package meter_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/guest/meter"
	"github.com/cocoon-go/cocoon/internal/longtest"
)

// countdown is a loop around the code, with local 0 as the number of turns.
func countdown(code string) string {
	return "\x03\x40" + code + "\x20\x00\x41\x01\x6b\x22\x00\x0d\x00\x0b"
}

// mark is code that does nothing.
const mark = "\x41\xd2\x09\x1a"

// TestShortLoops: the code of a short loop is written several times, and one copy looks.
func TestShortLoops(t *testing.T) {
	leaf := body("\x00", "\x20\x00\x41\x00\x10\x00\x6a")
	for _, c := range []struct {
		name, code string
		copies     int
	}{
		{"very short", mark, 4},
		{"at most 64 bytes long", mark + strings.Repeat("\x01", 51), 4},
		{"longer", mark + strings.Repeat("\x01", 52), 2},
		{"short", mark + strings.Repeat("\x01", 200), 2},
		{"long", mark + strings.Repeat("\x01", 600), 1},
		{"with a call", mark + "\x20\x00\x10\x01\x1a", 1},
		{"in a loop", mark + countdown(""), 1},
		{"around a loop that does not repeat", mark + "\x03\x40\x0b", 4},
	} {
		wasm := simple(i32ToI32, body("\x00", countdown(c.code)+"\x20\x00"), leaf)
		for _, mechanism := range mechanisms {
			metered, err := meter.Rewrite(wasm, meter.Config{Mechanism: mechanism})
			if err != nil {
				t.Fatal(err)
			}
			if got := bytes.Count(metered, []byte(mark)); got != c.copies {
				t.Errorf("a loop that is %s, %v: %d copies; want %d", c.name, mechanism, got, c.copies)
			}
		}
	}
}

// TestLoopBesideCalls: a short loop keeps the count in a local. With epochs it does not if another
// loop of the function calls.
func TestLoopBesideCalls(t *testing.T) {
	const look = "\x42\x00\x53\x0d\x01" // i64.const 0, i64.lt_s, br_if 1
	recursive := body("\x00", "\x20\x00\x41\x00\x10\x00\x6a")
	for _, c := range []struct {
		code     string
		inGlobal map[meter.Mechanism]bool
	}{
		{"", nil},
		{countdown("\x20\x00\x10\x01\x1a"), map[meter.Mechanism]bool{meter.Epoch: true}},
	} {
		wasm := simple(i32ToI32, body("\x00", countdown(mark)+c.code+"\x20\x00"), recursive)
		for _, mechanism := range mechanisms {
			metered, err := meter.Rewrite(wasm, meter.Config{Mechanism: mechanism})
			if err != nil {
				t.Fatal(err)
			}
			want := "\x20\x01" // local.get 1
			if c.inGlobal[mechanism] {
				want = "\x23\x00" // global.get 0
			}
			if !bytes.Contains(metered, []byte(want+look)) {
				t.Errorf("beside %x, %v: the loop does not begin with %x", c.code, mechanism, want+look)
			}
		}
	}
}

// TestManyShortLoops: a module with little else than short loops is not refused.
func TestManyShortLoops(t *testing.T) {
	loops := strings.Repeat(countdown(strings.Repeat(mark, 15)), 5000)
	wasm := simple(i32ToI32, body("\x00", loops+"\x20\x00"))
	for _, mechanism := range mechanisms {
		if _, err := meter.Rewrite(wasm, meter.Config{Mechanism: mechanism}); err != nil {
			t.Errorf("%v: %v", mechanism, err)
		}
	}
}

// TestTurns: in whatever way a turn of a short loop ends, the loop does the same as without the
// meter, and with fuel it is charged what it ran.
func TestTurns(t *testing.T) {
	code := "\x03\x7f" + // loop (result i32)
		"\x20\x01\x41\xd2\x09\x6a\x21\x01" + // sum += 1234
		"\x20\x00\x41\x01\x6b\x22\x00" + // n--
		"\x45\x04\x40\x20\x01\x0f\x0b" + // if n == 0, return sum
		"\x20\x00\x41\x05\x46\x04\x40\x0c\x01\x0b" + // if n == 5, the next iteration
		"\x02\x40\x20\x00\x41\x03\x71\x0e\x02\x00\x01\x00\x0b" + // if n % 4 == 1, the next iteration
		"\x20\x00\x41\x07\x71\x41\x06\x47\x0d\x00" + // if n % 8 != 6, the next iteration
		"\x20\x01\x0b\x41\x01\x6a" // sum + 1
	wasm := simple(i32ToI32, body("\x01\x01\x7f", code))
	each, err := meter.RewriteEach(wasm)
	if err != nil {
		t.Fatal(err)
	}
	for _, engine := range engines {
		for n := range uint64(longtest.Count(30, 12)) {
			exact := run(t, engine, each, 1<<50)
			want := invoke(t, exact, "f", n+1)
			for _, slice := range []int64{0, 17, 1 << 50} {
				for _, mechanism := range mechanisms {
					g := startIn(t, engine, wasm, mechanism, slice)
					if got := invoke(t, g, "f", n+1); got != want {
						t.Fatalf("%v, slices of %d: f(%d) = %d; want %d", mechanism, slice, n+1, got, want)
					}
					if mechanism == meter.Fuel && g.used() != exact.used() {
						t.Fatalf("slices of %d: f(%d) uses %d units; want %d", slice, n+1, g.used(), exact.used())
					}
					g.close()
				}
			}
			exact.close()
		}
	}
}
