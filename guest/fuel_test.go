package guest

import (
	"errors"
	"testing"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/internal/tasktest"
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

// paced returns an instance of recursion with fuel, which first calls the host after pace units.
func paced(t *testing.T, c Config, pace int64) (in *Instance, closeAll func()) {
	t.Helper()
	c.Mechanism, c.Runtime = Fuel, engine(t)
	m, err := Compile(background, recursion, c)
	if err != nil {
		t.Fatal(err)
	}
	in = instance(t, m)
	in.pace.units = pace
	return in, func() { c.Runtime.Close(background) }
}

// TestFuelOfRecursion: a recursion stops at the same instruction for each budget, on its way there
// and on its way back, at whatever pace it calls the host.
func TestFuelOfRecursion(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 1, QuietThrows: true})
	const n = 10_000
	// stop returns where a call stops, and how much it has used.
	stop := func(budget, pace int64) (g, used uint64, stopped bool) {
		in, closeAll := paced(t, Config{Loop: rt.Loop(), Budget: budget}, pace)
		defer closeAll()
		thread := in.Spawn(background, "f", n)
		var fuel *FuelError
		_, err := thread.Wait(background)
		if err != nil && !errors.As(err, &fuel) {
			t.Fatal(err)
		}
		return in.Module().ExportedGlobal("g").Get(), uint64(thread.FuelUsed()), err != nil
	}
	_, all, _ := stop(1<<40, mostUnits)
	var budgets []int64
	for b := int64(leastUnits); b < leastUnits+int64(longtest.Count(20, 8)); b++ {
		budgets = append(budgets, b) // one of them ends at a check at which the pace ends, too
	}
	for b := int64(1000); b < int64(all); b += int64(longtest.Count(1511, 15_111)) {
		budgets = append(budgets, b)
	}
	for b := int64(all) - 500; b < int64(all)+2; b += int64(longtest.Count(1, 25)) {
		budgets = append(budgets, b) // at the end, only calls of the host without a look at the fuel follow
	}
	stops := map[bool]int{}
	for _, budget := range budgets {
		g, used, stopped := stop(budget, leastUnits)
		stops[g > 0]++
		for _, pace := range []int64{3001, 1 << 13, 1 << 16, mostUnits} {
			if g2, used2, stopped2 := stop(budget, pace); g2 != g || used2 != used || stopped2 != stopped {
				t.Errorf("budget %d, pace %d: stops: %v, g is %d, %d units used; at another pace %v, %d, %d", budget, pace, stopped2, g2, used2, stopped, g, used)
			}
		}
	}
	if stops[false] == 0 || stops[true] == 0 {
		t.Errorf("stops on the way back or not: %v", stops)
	}
}

// TestFuelEndsAtAnyPace: slices and frames end at the same checks, at whatever pace the guest calls
// the host: also at a check at which exactly their last unit is used and the pace ends, too.
func TestFuelEndsAtAnyPace(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 1})
	// ends returns what a thread has used when the first frame ends, and where its last slice would
	// have ended, which follows from the ends of all slices before.
	ends := func(fuel, pace int64) (frame, slice int64) {
		in, closeAll := paced(t, Config{Loop: rt.Loop(), FuelSlice: fuel}, pace)
		defer closeAll()
		in.Pause()
		thread := in.Spawn(background, "f", 1000)
		if left, err := in.RunFuel(background, fuel); left != 1 || err != nil {
			t.Fatalf("%d threads left, %v", left, err)
		}
		frame = thread.FuelUsed()
		in.Resume()
		if _, err := thread.Wait(background); err != nil {
			t.Fatal(err)
		}
		return frame, thread.account.fuelUntil
	}
	for fuel := int64(leastUnits); fuel < leastUnits+20; fuel++ {
		frame, slice := ends(fuel, leastUnits)
		if frame2, slice2 := ends(fuel, mostUnits); frame2 != frame || slice2 != slice {
			t.Errorf("%d units: the frame ends at %d and the last slice at %d, at another pace %d and %d", fuel, frame2, slice2, frame, slice)
		}
	}
}
