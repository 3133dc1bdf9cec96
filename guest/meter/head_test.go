package meter_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/guest/meter"
)

// TestCallersPay: a small function without loops that only direct calls lead to has no code of the
// meter, and with fuel its callers pay for it. An exported one is called by the host, which pays
// nothing.
func TestCallersPay(t *testing.T) {
	leaf := body("\x00", "\x20\x00\x41\xd2\x09\x6a") // adds a number
	caller := body("\x00", "\x20\x00\x10\x01\x10\x01")
	internal := simple(i32ToI32, caller, leaf)
	exported := newModule().section(1, list(i32ToI32)).section(3, list("\x00", "\x00")).
		section(7, list(text("f")+"\x00\x00", text("leaf")+"\x00\x01")).section(10, list(caller, leaf))
	const cost = 1 + 3 + 3 + 2*3 // the caller, and the leaf twice
	for _, c := range []struct {
		name      string
		wasm      []byte
		free      bool // of the meter's code
		mechanism meter.Mechanism
	}{
		{"internal", internal, true, meter.Epoch}, {"internal", internal, true, meter.Fuel},
		{"exported", exported, true, meter.Epoch}, {"exported", exported, false, meter.Fuel},
	} {
		metered, err := meter.Rewrite(c.wasm, meter.Config{Mechanism: c.mechanism})
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(metered, []byte(leaf)) != c.free {
			t.Errorf("%s, %v: the leaf stays as it was: %v; want %v", c.name, c.mechanism, !c.free, c.free)
		}
		if c.mechanism == meter.Fuel {
			g := start(t, c.wasm, meter.Fuel, 1000)
			if got := invoke(t, g, "f", 1); got != 1+2*1234 {
				t.Errorf("%s: f(1) = %d", c.name, got)
			}
			if g.used() != cost {
				t.Errorf("%s: %d units used; want %d", c.name, g.used(), cost)
			}
		}
	}
}

// TestLongAndCheap: a function that costs little and is long is not silent, because a function that
// calls it has a safe point before the call.
func TestLongAndCheap(t *testing.T) {
	long := body("\x00", strings.Repeat("\x01", 60_000)+"\x20\x00")
	middle := body("\x00", "\x20\x00\x10\x02")
	// calls the middle n times
	caller := body("\x00", "\x03\x40\x20\x00\x10\x01\x1a\x20\x00\x41\x01\x6b\x22\x00\x0d\x00\x0b\x20\x00")
	wasm := simple(i32ToI32, caller, middle, long)
	const n, turn = 100, 1 + 3 + 1 + 5 + (1 + 3) + 1
	metered, err := meter.Rewrite(wasm, meter.Config{Mechanism: meter.Fuel})
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(metered, []byte("\x01\x01\x7e\x23\x00\x21\x01")) {
		t.Error("the caller has the count in a local, where the middle function's safe point does not see it")
	}
	for _, slice := range []int64{0, 7, 1 << 50} {
		g := start(t, wasm, meter.Fuel, slice)
		if got := invoke(t, g, "f", n); got != 0 {
			t.Errorf("f returns %d", got)
		}
		if g.used() != n*turn+1 {
			t.Errorf("slices of %d: %d units used; want %d", slice, g.used(), n*turn+1)
		}
	}
}
