package meter_test

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/cocoon-go/cocoon/guest/meter"
)

// spin is (module (func (export "spin") (loop (br 0)))).
var spin = []byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00" +
	"\x07\x08\x01\x04spin\x00\x00\x0a\x09\x01\x07\x00\x03\x40\x0c\x00\x0b\x0b")

// A guest that would never return stops when its fuel is used up for the third time.
func Example() {
	wasm, err := meter.Rewrite(spin, meter.Config{Mechanism: meter.Fuel})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	defer r.Close(ctx)

	slices := 0
	safepoint := func(_ context.Context, guest api.Module) {
		if slices++; slices > 3 {
			panic("no more fuel")
		}
		guest.ExportedGlobal(meter.FuelExport).(api.MutableGlobal).Set(1000)
	}
	_, err = r.NewHostModuleBuilder(meter.Host).NewFunctionBuilder().WithFunc(safepoint).Export(meter.Safepoint).Instantiate(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	guest, err := r.Instantiate(ctx, wasm)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = guest.ExportedFunction("spin").Call(ctx)
	fmt.Println(err != nil, slices)
	// Output: true 4
}
