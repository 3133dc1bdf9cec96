package guest

import (
	"context"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
	"github.com/tetratelabs/wazero/api"
)

// BenchmarkCall is one call of a guest's function: outside of tasks, inside one, in a batch, by
// wazero alone.
func BenchmarkCall(b *testing.B) {
	rt := tasktest.Start(b, cocoon.Config{Slots: 1})
	in := instance(b, compiled(b, Config{Threads: true, Loop: rt.Loop()}, nil))
	b.Run("task", func(b *testing.B) {
		for b.Loop() {
			in.Call(background, "fib", 1)
		}
	})
	b.Run("section", func(b *testing.B) {
		rt.Run(background, "job", func(ctx context.Context) error {
			for b.Loop() {
				in.Call(ctx, "fib", 1)
			}
			return nil
		})
	})
	b.Run("batch", func(b *testing.B) {
		in.Batch(background, "fib", func(_ context.Context, call func([]uint64) error) error {
			stack := make([]uint64, 1)
			for b.Loop() {
				stack[0] = 1
				call(stack)
			}
			return nil
		})
	})
	b.Run("wazero", func(b *testing.B) {
		fn := in.Module().ExportedFunction("fib")
		for b.Loop() {
			fn.Call(background, 1)
		}
	})
}

// BenchmarkTurn is one change between two threads of an instance that spin, on one slot.
func BenchmarkTurn(b *testing.B) {
	rt := tasktest.Start(b, cocoon.Config{Slots: 1})
	in := instance(b, compiled(b, Config{Threads: true, Loop: rt.Loop(), Mechanism: Fuel, FuelSlice: 1}, func(_ context.Context, _ api.Module, x uint32) uint32 { return x }))
	in.Pause()
	n := uint64(b.N)
	x, y := in.Spawn(background, "count", n), in.Spawn(background, "count", n)
	b.ResetTimer()
	in.RunFor(background, time.Hour)
	x.Wait(background)
	y.Wait(background)
}
