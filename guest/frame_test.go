package guest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/internal/tasktest"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// traced runs five threads of a deterministic instance, and returns the order in which they ran.
// The frames run it until no thread is left.
func traced(t *testing.T, slots int, frames func(in *Instance) (left int)) string {
	t.Helper()
	rt := tasktest.Start(t, cocoon.Config{Slots: slots})
	in := instance(t, compiled(t, Config{Mechanism: Fuel, Loop: rt.Loop(), FuelSlice: 10_000, Deterministic: true, Seed: 7}, nil))
	for id := range uint64(5) {
		in.Spawn(background, "trace", id, 20_000)
	}
	for end := time.Now().Add(20 * time.Second); frames(in) > 0; {
		if time.Now().After(end) {
			t.Fatal("the threads have not ended within 20 s")
		}
	}
	return ids(in)
}

// TestDeterministicPauses: pauses, which stop threads at any time, do not change the order of a
// deterministic instance. Frames of fuel stop it at the same counts on any number of slots.
func TestDeterministicPauses(t *testing.T) {
	want := traced(t, 1, func(in *Instance) int { return runFor(t, in, 20*time.Second) })
	for slots := range 2 {
		if got := traced(t, slots+1, func(in *Instance) int { return runFor(t, in, 50*time.Microsecond) }); got != want {
			t.Errorf("%d slots, many pauses: the threads ran in the order\n%q, without pauses\n%q", slots+1, got, want)
		}
	}
	var stops []uint32
	for slots := range 3 {
		n := 0
		got := traced(t, slots+1, func(in *Instance) int {
			left, err := in.RunFuel(background, 7_001)
			if err != nil {
				t.Fatal(err)
			}
			at, _ := in.Memory().ReadUint32Le(4092) // no thread runs
			if slots == 0 {
				stops = append(stops, at)
			} else if n >= len(stops) || stops[n] != at {
				t.Fatalf("%d slots: frame %d ends after %d turns; with one slot frames end after %v", slots+1, n, at, stops)
			}
			n++
			return left
		})
		if got != want {
			t.Errorf("%d slots, frames: the threads ran in the order\n%q, without frames\n%q", slots+1, got, want)
		}
	}
	if len(stops) < 50 {
		t.Errorf("%d frames; want many", len(stops))
	}
}

func runFor(t *testing.T, in *Instance, d time.Duration) (left int) {
	left, err := in.RunFor(background, d)
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// TestRunFuel: frames use what they are given, over all frames, and what one overdraws the next
// pays.
func TestRunFuel(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 1, QuietThrows: true})
	in := instance(t, compiled(t, Config{Threads: true, Mechanism: Fuel, Loop: rt.Loop()}, nil))
	in.Pause()
	a, b := in.Spawn(background, "spin"), in.Spawn(background, "fib", 30)
	for i := range int64(50) {
		if left, err := in.RunFuel(background, 20_000); left == 0 || err != nil {
			t.Fatalf("RunFuel: %d left, %v", left, err)
		}
		if used, want := a.FuelUsed()+b.FuelUsed(), (i+1)*20_000; used < want || used > want+1000 {
			t.Fatalf("%d units used after %d frames; want %d", used, i+1, want)
		}
	}
	if _, err := in.RunFuel(background, 0); err == nil {
		t.Error("RunFuel for nothing is no error")
	}
	in = instance(t, compiled(t, Config{Loop: rt.Loop()}, nil))
	if _, err := in.RunFuel(background, 1); err == nil || !strings.Contains(err.Error(), "Config.Mechanism") {
		t.Errorf("RunFuel without fuel: %v", err)
	}
}

// TestRunFuelInside: a host function cannot run the threads of its own instance for an amount of
// fuel, because its call would stop with them and never return.
func TestRunFuelInside(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 1, QuietThrows: true})
	for _, shares := range []bool{false, true} {
		var in *Instance
		var err error
		m := compiled(t, Config{Threads: shares, Mechanism: Fuel, Loop: rt.Loop()}, func(ctx context.Context, _ api.Module, x uint32) uint32 {
			_, err = in.RunFuel(ctx, 1000)
			return x
		})
		in = instance(t, m)
		if _, failed := in.Call(background, "call", 1); failed != nil || err == nil || !strings.Contains(err.Error(), "inside a call") {
			t.Errorf("shares %v: RunFuel returned %v, and the call %v", shares, err, failed)
		}
	}
}

// TestErrors: an error says once which package it is from.
func TestErrors(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 1, QuietThrows: true})
	for _, name := range []string{"", "plugin"} {
		_, compiling := Compile(background, []byte("no module"), Config{Name: name})
		m := compiled(t, Config{Name: name, Loop: rt.Loop(), Mechanism: Fuel, Budget: 100_000}, nil)
		in := instance(t, m)
		_, missing := in.Call(background, "nothing")
		_, trap := in.Call(background, "trap")
		_, fuel := in.Call(background, "spin")
		_, closed := in.Call(background, "fib", 1)
		m.Close(background)
		_, late := m.Instantiate(background, wazero.NewModuleConfig())
		for _, err := range []error{compiling, missing, trap, fuel, closed, late} {
			if err == nil || !strings.HasPrefix(err.Error(), "guest") || strings.Count(err.Error(), "guest: ") > 1 || strings.Contains(err.Error(), "guest: guest") {
				t.Errorf("%v", err)
			}
		}
	}
}

// TestDeterministicEnds: a thread that has ended counts as ended, and its stack is free, before the
// next one runs.
func TestDeterministicEnds(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 2, QuietThrows: true})
	m := compiled(t, Config{Mechanism: Fuel, Loop: rt.Loop(), FuelSlice: 1 << 40, Deterministic: true}, nil)
	want := 0
	for i := range longtest.Count(100, 20) {
		in := instance(t, m)
		pages := in.Memory().Size()
		for range 50 {
			in.Spawn(background, "count", 1)
		}
		if left := runFuel(t, in, 1<<40); left != 0 {
			t.Errorf("%d threads are left of 50 that have ended", left)
		}
		if now := in.Memory().Size(); now != pages {
			t.Fatalf("the memory has grown from %d to %d bytes, for stacks of threads that ran one after the other", pages, now)
		}
		for range 5 {
			in.Spawn(background, "count", 1)
		}
		in.Spawn(background, "spin")
		left := runFuel(t, in, 20_000)
		if i == 0 {
			want = left
		}
		if left != want {
			t.Fatalf("%d threads are left, and %d in another run", left, want)
		}
	}
}

func runFuel(t *testing.T, in *Instance, n int64) (left int) {
	t.Helper()
	left, err := in.RunFuel(background, n)
	if err != nil {
		t.Fatal(err)
	}
	return left
}
