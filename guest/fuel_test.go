package guest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/internal/tasktest"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// recursion is
//
//	(global $g (export "g") (mut i32) (i32.const 0))
//	(func $f (export "f") (param $n i32) (result i32)
//	  (if (i32.eqz (local.get $n)) (then (return (i32.const 0))))
//	  (global.set $g (i32.add (call $f (i32.sub (local.get $n) (i32.const 1))) (global.get $g)))
//	  (if (i32.and (local.get $n) (i32.const 1)) (then (global.set $g (i32.add (global.get $g) (local.get $n)))))
//	  (i32.const 1))
var recursion = []byte("\x00asm\x01\x00\x00\x00\x01\x06\x01\x60\x01\x7f\x01\x7f\x03\x02\x01\x00\x06\x06\x01\x7f\x01\x41\x00\x0b" +
	"\x07\x09\x02\x01f\x00\x00\x01g\x03\x00\x0a\x2a\x01\x28\x00\x20\x00\x45\x04\x40\x41\x00\x0f\x0b" +
	"\x20\x00\x41\x01\x6b\x10\x00\x23\x00\x6a\x24\x00" +
	"\x20\x00\x41\x01\x71\x04\x40\x23\x00\x20\x00\x6a\x24\x00\x0b\x41\x01\x0b")

// TestFuelOfRecursion: a recursion stops at the same instruction for each budget, on its way there
// and on its way back, at whatever pace it calls the host.
func TestFuelOfRecursion(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 1, QuietThrows: true})
	stops := map[bool]int{}
	for budget := int64(1000); budget < 400_000; budget += int64(longtest.Count(1511, 15_111)) {
		first := ""
		for _, pace := range []int64{leastUnits, 3001, 1 << 13, 1 << 16, mostUnits} {
			c := Config{Mechanism: Fuel, Loop: rt.Loop(), Budget: budget, Runtime: wazero.NewRuntime(background)}
			m, err := Compile(background, recursion, c)
			if err != nil {
				t.Fatal(err)
			}
			in := instance(t, m)
			in.pace.units = pace
			g := in.Module().ExportedGlobal("g").(api.MutableGlobal)
			_, err = in.Call(background, "f", 10_000)
			var fuel *FuelError
			if err != nil && !errors.As(err, &fuel) {
				t.Fatal(err)
			}
			stops[g.Get() > 0]++
			got := "it returns"
			if fuel != nil {
				got = fmt.Sprint(fuel.Used, " units used, g is ", g.Get())
			}
			if first == "" {
				first = got
			}
			if got != first {
				t.Errorf("budget %d, pace %d: %s; at another pace: %s", budget, pace, got, first)
			}
			c.Runtime.Close(background)
		}
	}
	if stops[false] == 0 || stops[true] == 0 {
		t.Errorf("stops on the way back or not: %v", stops)
	}
}
