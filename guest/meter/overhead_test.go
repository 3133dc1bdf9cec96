package meter_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"golang.org/x/sys/unix"

	"github.com/cocoon-go/cocoon/guest/meter"
)

// workloads are those of the paper's Table I. testdata/README.md says how they are compiled.
var workloads = []struct {
	name string
	run  func(testing.TB, api.Module) float64
}{
	{"fib", func(t testing.TB, m api.Module) float64 { return float64(int32(invoke(t, m, "fib", 32))) }},
	{"dot", func(t testing.TB, m api.Module) float64 {
		const n = 1 << 20
		if m.Memory().Size() < 2*8*n+1<<16 {
			m.Memory().Grow(2*8*n>>16 + 1)
			invoke(t, m, "fill", 1<<16, n, math.Float64bits(1))
			invoke(t, m, "fill", 1<<16+8*n, n, math.Float64bits(2))
		}
		var sum float64
		for range 16 {
			sum = math.Float64frombits(invoke(t, m, "dot", 1<<16, 1<<16+8*n, n))
		}
		return sum
	}},
	{"matrix", func(t testing.TB, m api.Module) float64 {
		return math.Float64frombits(invoke(t, m, "multiply"))
	}},
}

func invoke(t testing.TB, m api.Module, name string, args ...uint64) uint64 {
	t.Helper()
	results, err := m.ExportedFunction(name).Call(context.Background(), args...)
	if err != nil {
		t.Fatal(err)
	}
	if len(results) == 0 {
		return 0
	}
	return results[0]
}

// TestOverhead prints what the mechanisms cost: the median of ratios of interleaved runs. It
// demands nothing, because other work on the machine would decide.
func TestOverhead(t *testing.T) {
	if os.Getenv("METER_OVERHEAD") == "" {
		t.Skip("METER_OVERHEAD=1 measures")
	}
	ctx := context.Background()
	product := map[meter.Mechanism]float64{}
	for _, w := range workloads {
		wasm, err := os.ReadFile(filepath.Join("testdata", w.name+".wasm"))
		if err != nil {
			t.Fatal(err)
		}
		guests := []api.Module{hosted(t, ctx, wasm)}
		for _, mechanism := range mechanisms {
			metered, err := meter.Rewrite(wasm, meter.Config{Mechanism: mechanism})
			if err != nil {
				t.Fatal(err)
			}
			guests = append(guests, hosted(t, ctx, metered))
		}
		times := make([][]float64, len(guests))
		for range 25 {
			for i, g := range guests {
				start := processorTime()
				w.run(t, g)
				times[i] = append(times[i], (processorTime() - start).Seconds())
			}
		}
		for i := range times {
			slices.Sort(times[i])
		}
		base := times[0][len(times[0])/2]
		var line strings.Builder
		for i, mechanism := range mechanisms {
			ratio := times[i+1][len(times[i+1])/2] / base
			best := times[i+1][0] / times[0][0]
			if product[mechanism] == 0 {
				product[mechanism] = 1
			}
			product[mechanism] *= ratio
			line.WriteString(fmt.Sprintf("  %v %.3f (of the fastest runs %.3f)", mechanism, ratio, best))
		}
		t.Logf("%-6s %6.1f ms %s", w.name, base*1e3, line.String())
	}
	for _, mechanism := range mechanisms {
		t.Logf("geometric mean %v %.3f", mechanism, math.Cbrt(product[mechanism]))
	}
}

// processorTime is the processor time of this process: other work on the machine counts less in it.
func processorTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}

// hosted instantiates a guest with a safe point that gives slices of a million units, which take
// about 100 microseconds.
func hosted(t testing.TB, ctx context.Context, wasm []byte) api.Module {
	t.Helper()
	r := wazero.NewRuntime(ctx)
	t.Cleanup(func() { r.Close(ctx) })
	var left api.MutableGlobal
	safepoint := api.GoModuleFunc(func(_ context.Context, guest api.Module, _ []uint64) {
		if left == nil {
			left = counter(guest)
		}
		left.Set(1_000_000)
	})
	_, err := r.NewHostModuleBuilder(meter.Host).NewFunctionBuilder().WithGoModuleFunction(safepoint, nil, nil).Export(meter.Safepoint).
		NewFunctionBuilder().WithFunc(func() {}).Export(meter.Back).Instantiate(ctx)
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.Instantiate(ctx, wasm)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// counter returns the global that has what is left.
func counter(guest api.Module) api.MutableGlobal {
	for _, name := range []string{meter.LeftExport, meter.FuelExport} {
		if g, ok := guest.ExportedGlobal(name).(api.MutableGlobal); ok {
			return g
		}
	}
	return nil
}
